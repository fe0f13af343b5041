#include "core/base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace strata {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr double kKibi = 1024.0, kKilo = 1000.0;
constexpr std::array kSizes = {
    Unit{"", 1},
    Unit{"B", 1},
    Unit{"KiB", kKibi},
    Unit{"MiB", kKibi* kKibi},
    Unit{"GiB", kKibi* kKibi* kKibi},
    Unit{"TiB", kKibi* kKibi* kKibi* kKibi},
    Unit{"kB", kKilo},
    Unit{"MB", kKilo* kKilo},
    Unit{"GB", kKilo* kKilo* kKilo},
    Unit{"TB", kKilo* kKilo* kKilo* kKilo},
};
constexpr std::array kTimes = {
    Unit{"", 1},      Unit{"s", 1},  Unit{"ms", 1e-3}, Unit{"us", 1e-6},
    Unit{"ns", 1e-9}, Unit{"m", 60}, Unit{"h", 3600},
};

/// A non-negative number and one of the units; NaN where the text is anything else.
double read_quantity(std::string_view text, std::span<const Unit> units) {
    const auto number = take_number<double>(text);
    if (!number || !std::isfinite(*number) || *number < 0) return NAN;
    while (take(text, " ")) {
    }
    for (const Unit& known : units)
        if (text == known.name) return *number * known.factor;
    return NAN;
}

}  // namespace

std::uint64_t parse_size(std::string_view text) {
    const double bytes = read_quantity(text, kSizes);
    if (!(bytes < 9.2e18)) {
        throw Error("not a size")
            .given(fmt::format("\"{}\"", text))
            .allowed(
                "a number with B, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers of 1000)");
    }
    return static_cast<std::uint64_t>(std::llround(bytes));
}

std::string print_size(std::uint64_t bytes) {
    constexpr std::array names = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = static_cast<double>(bytes);
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < names.size()) {
        value /= 1024;
        ++unit;
    }
    return value < 999.5 ? fmt::format("{:.3g} {}", value, names[unit])
                         : fmt::format("{:.0f} {}", value, names[unit]);
}

double parse_seconds(std::string_view text) {
    const double seconds = read_quantity(text, kTimes);
    if (std::isnan(seconds)) {
        throw Error("not a time")
            .given(fmt::format("\"{}\"", text))
            .allowed("a number with s, ms, us, ns, m or h");
    }
    return seconds;
}

std::string print_seconds(double seconds) {
    const double size = std::fabs(seconds);
    constexpr double rounds_up = 0.9995;  // to three digits
    if (size >= 999.5) return fmt::format("{:.0f} s", seconds);
    if (size == 0 || size >= rounds_up) return fmt::format("{:.3g} s", seconds);
    if (size >= rounds_up * 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
    if (size >= rounds_up * 1e-6) return fmt::format("{:.3g} us", seconds * 1e6);
    return fmt::format("{:.3g} ns", seconds * 1e9);
}

std::string print_duration(double seconds) {
    if (seconds < 9.95) return fmt::format("{:.2g} s", std::max(0.0, seconds));
    const auto whole = static_cast<long long>(std::llround(std::min(seconds, 1e12)));
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace strata
