// Compression and back: a Lempel-Ziv coder (Ziv and Lempel 1977) over data with repetitions. It jumps,
// compares and copies bytes at places that depend on the data. What was compressed must come out again, byte
// by byte.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::size_t kText = 1U << 18U, kTable = 1U << 12U;
/// The worst case: all literals, a head for each 255.
inline constexpr std::size_t kCompressBytes = 2 * kText + kText + kText / 64 + kTable * sizeof(std::uint32_t);

/// Words of a small vocabulary in random order.
void make_text(std::uint64_t seed, std::span<std::byte> text);
/// Returns the length of what was written to `to`; `table` has kTable entries.
[[nodiscard]] std::size_t compress(std::span<const std::byte> text, std::span<std::byte> to,
                                   std::span<std::uint32_t> table);
/// The length of the text; stops where the code is damaged or the text would not fit.
[[nodiscard]] std::size_t expand(std::span<const std::byte> code, std::span<std::byte> text);

bool compression(const Round& round, Trace& trace);
bool compression_reference(const Round& round, Trace& trace);
std::string compression_place(int step);

}  // namespace strata::integrity
