// What the units of one core do at best: multiply-adds, and loads from a working set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::bench::machine_measures {

/// Independent chains of multiply-adds: two units with a latency of four to five cycles need ten at once.
inline constexpr std::size_t kChains = 12;
/// Doubles in the widest vector of the processor compiled for.
#if defined(__AVX512F__)
inline constexpr std::size_t kLanes = 8;
#elif defined(__AVX__)
inline constexpr std::size_t kLanes = 4;
#else
inline constexpr std::size_t kLanes = 2;
#endif
inline constexpr std::size_t kStates = kChains * kLanes;

/// x <- x f + a, `iterations` times for each of the kStates states: 2 kStates flops an iteration, nothing but
/// registers. `states` is aligned to 64 bytes.
void multiply_add(std::span<double, kStates> states, double f, double a, std::size_t iterations) noexcept;

/// The same for one state, one step after the other, with the same rounding: what multiply_add must give.
[[nodiscard]] double multiply_add_reference(double state, double f, double a,
                                            std::size_t iterations) noexcept;

/// Reads all words (a multiple of 64 of them, aligned to 64 bytes) and returns their exclusive or: one vector
/// load for each instruction that uses it, and a result that shows that all was read.
[[nodiscard]] std::uint64_t load_all(std::span<const std::uint64_t> words) noexcept;

}  // namespace strata::bench::machine_measures
