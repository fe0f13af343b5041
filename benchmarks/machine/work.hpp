// The fixed quantum of work of the noise measurement.
#pragma once

#include <cstdint>

namespace strata::bench::machine_measures {

/// One step of a linear congruential sequence (Knuth's MMIX constants): a multiplication and an addition that
/// need the step before, so that nothing but this core's clock and what interrupts it decides how long a
/// quantum takes.
inline constexpr std::uint64_t kFactor = 6364136223846793005U, kAddend = 1442695040888963407U;

[[nodiscard]] std::uint64_t work(std::uint64_t state, std::uint64_t steps) noexcept;

/// The same state without walking there: x -> a x + c taken n times is one such map, found by squaring
/// (Brown, Random number generation with arbitrary strides, Trans. Am. Nucl. Soc. 71, 1994). Proves that all
/// steps were made.
[[nodiscard]] constexpr std::uint64_t jump(std::uint64_t state, std::uint64_t steps) {
    std::uint64_t factor = kFactor, addend = kAddend, all_factor = 1, all_addend = 0;
    for (; steps > 0; steps >>= 1) {
        if (steps & 1U) {
            all_factor *= factor;
            all_addend = all_addend * factor + addend;
        }
        addend = (factor + 1) * addend;
        factor *= factor;
    }
    return all_factor * state + all_addend;
}

}  // namespace strata::bench::machine_measures
