// Steps and times, where rounding must not decide: 1.0 / 0.1 is 10 steps, though ten steps of 0.1 add up to
// 0.9999999999999999.
#pragma once

#include <cmath>
#include <cstdint>

namespace strata {

/// The share of a time, or of a number of steps, that counts as rounding: 4500 roundings of doubles.
inline constexpr double kRounding = 1e-12;

/// Whether `now` is `time` or later, but for rounding.
[[nodiscard]] inline bool reached(double now, double time) {
    return now >= time - kRounding * std::abs(time);
}

/// The equal steps from 0 that end at `time` or before it: 10 for 1.0 in steps of 0.1, 3 (to 0.9) in steps of
/// 0.3. `step` > 0.
[[nodiscard]] inline std::int64_t steps_within(double time, double step) {
    const double steps = time / step;
    return static_cast<std::int64_t>(std::floor(steps + kRounding * std::abs(steps)));
}

/// Whether a step of length `dt` leaves so little of `left` that it goes to the end: a rest below a millionth
/// of a step is no step of its own.
[[nodiscard]] inline bool goes_to_end(double dt, double left) { return left <= dt * (1 + 1e-6); }

}  // namespace strata
