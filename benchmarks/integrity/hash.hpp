// SHA-256 (FIPS 180-4) by the instructions for it where the processor has them, and CRC-32C by its
// instruction; the reference has neither.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

using Sha256 = std::array<std::uint32_t, 8>;

/// The initial hash value.
inline constexpr Sha256 kSha256Start = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/// Takes whole blocks of 64 bytes into the state.
void sha256_blocks(Sha256& state, std::span<const std::byte> blocks);
void sha256_blocks_reference(Sha256& state, std::span<const std::byte> blocks);
using Sha256Blocks = void (*)(Sha256&, std::span<const std::byte>);
/// The digest of a message of any length.
[[nodiscard]] Sha256 sha256(std::span<const std::byte> message, Sha256Blocks blocks = sha256_blocks);

bool hash(const Round& round, Trace& trace);
bool hash_reference(const Round& round, Trace& trace);
std::string hash_place(int step);

}  // namespace strata::integrity
