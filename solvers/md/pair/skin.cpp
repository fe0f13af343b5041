#include "solvers/md/pair/skin.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace strata::md {

namespace {

/// The potential at the cutoff, and its derivatives there.
struct AtCutoff {
    double value, first, second, third;
};

AtCutoff at_cutoff(const LennardJones& p, std::size_t pair) {
    const double r = p.cutoff[pair], six = std::pow(p.sigma[pair] / r, 6), e = 4 * p.epsilon[pair];
    AtCutoff all{e * (six * six - six), e * (-12 * six * six + 6 * six) / r,
                 e * (156 * six * six - 42 * six) / (r * r),
                 e * (-2184 * six * six + 336 * six) / (r * r * r)};
    if (p.shift != Shift::none) all.value = 0;
    if (p.shift == Shift::force) all.first = 0;
    return all;
}

}  // namespace

double missed_energy(const LennardJones& p, const Between& between, double skin) {
    // Two atoms come nearer by a distance of this standard deviation.
    const double s = between.time * std::sqrt(2 * between.heat), b = skin;
    if (s == 0) return 0;
    const double bell = std::exp(-b * b / (2 * s * s)) / std::sqrt(2 * std::numbers::pi);
    const double beyond = std::erfc(b / (s * std::numbers::sqrt2)) / 2;
    // Means of (u - b)^k where u, how much nearer they come, is more than b.
    const double one = s * bell - b * beyond, two = (b * b + s * s) * beyond - b * s * bell,
                 three = s * (b * b + 2 * s * s) * bell - b * (b * b + 3 * s * s) * beyond,
                 four = (b * b * b * b + 6 * b * b * s * s + 3 * s * s * s * s) * beyond -
                        b * s * (b * b + 5 * s * s) * bell;
    double most = 0;
    for (std::size_t pair = 0; pair < p.cutoff.size(); ++pair) {
        const AtCutoff v = at_cutoff(p, pair);
        const double shell = p.cutoff[pair] + b + s;
        const double each = v.value * one - v.first * two / 2 + v.second * three / 6 - v.third * four / 24;
        // A pair is two atoms'.
        most = std::max(most, std::abs(each) * 2 * std::numbers::pi * shell * shell * between.density);
    }
    return most;
}

double skin_for(const LennardJones& p, const Between& between, double drift) {
    const double most = drift * between.time;
    double low = 0, high = 8 * between.time * std::sqrt(2 * between.heat);
    if (missed_energy(p, between, low) <= most) return low;
    for (int k = 0; k < 60; ++k) {
        const double middle = (low + high) / 2;
        (missed_energy(p, between, middle) <= most ? high : low) = middle;
    }
    return high;
}

}  // namespace strata::md
