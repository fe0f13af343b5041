// SHA-256 (FIPS 180-4) by the instructions for it where the processor has them, and CRC-32C by its
// instruction; the reference has neither.
#pragma once

#include <cstddef>
#include <span>

#include "benchmarks/integrity/kernel.hpp"
#include "core/base/sha256.hpp"

namespace strata::integrity {

/// Takes whole blocks of 64 bytes into the state, by the instructions where there are any.
void sha256_blocks_fast(Sha256State& state, std::span<const std::byte> blocks);

bool hash(const Round& round, Trace& trace);
bool hash_reference(const Round& round, Trace& trace);
std::string hash_place(int step);

}  // namespace strata::integrity
