// What a program found, and what makes it count.
#pragma once

#include <cmath>
#include <optional>
#include <string>

namespace strata {

/// For texts: "nan", never "-nan", whose sign means nothing.
[[nodiscard]] inline double without_nan_sign(double x) { return std::isnan(x) ? std::abs(x) : x; }

struct Figure {
    std::string name;
    double value = 0;
    std::string unit;
    bool higher_is_better = true;
    std::optional<double> bytes{}, flops{};  // what one repetition moves and computes, for the roofline
};

/// A result counts only when what was computed is right: value <= limit. What is no number (NaN, infinity)
/// does not pass.
struct Verification {
    std::string what;
    double value = NAN;
    double limit = 0;
    std::string source;       // of the rule
    std::string absent = {};  // why there is nothing to compare the result with; then it is not verified
    [[nodiscard]] bool passed() const { return absent.empty() && std::isfinite(value) && value <= limit; }
};

}  // namespace strata
