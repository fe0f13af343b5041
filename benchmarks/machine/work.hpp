// The fixed quanta of work of the measurements of noise and of cycles.
#pragma once

#include <cstdint>
#include <span>

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

/// The same with a load in each step: state <- state kFactor + word, over all words, `passes` times. The
/// words stay in the cache that they fit.
[[nodiscard]] std::uint64_t fold(std::span<const std::uint64_t> words, std::uint64_t passes,
                                 std::uint64_t state) noexcept;

/// The same state without walking there: one pass is the map x -> kFactor^n x + c, taken `passes` times by
/// squaring as in jump(). Proves that every word was read in every pass.
[[nodiscard]] constexpr std::uint64_t folded(std::span<const std::uint64_t> words, std::uint64_t passes,
                                             std::uint64_t state) {
    std::uint64_t factor = 1, addend = 0;
    for (std::size_t i = words.size(); i-- > 0; factor *= kFactor) addend += factor * words[i];
    for (; passes > 0; passes >>= 1) {
        if (passes & 1U) state = factor * state + addend;
        addend = (factor + 1) * addend;
        factor *= factor;
    }
    return state;
}

}  // namespace strata::bench::machine_measures
