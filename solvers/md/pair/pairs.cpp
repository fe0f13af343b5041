#include "solvers/md/pair/pairs.hpp"

#include <cmath>

namespace strata::md {

namespace {

double square_apart(const Sight& s, std::int64_t i, std::int64_t j) {
    double square = 0;
    for (const double* x : s.x) square += (x[i] - x[j]) * (x[i] - x[j]);
    return square;
}

}  // namespace

void Pairs::build(const Sight& sight, std::span<const std::uint8_t> counts, double reach) {
    outer_.clear();
    for (std::int64_t i = 0; i < sight.own; ++i)
        for (std::int64_t j = i + 1; j < sight.all; ++j) {
            if (j >= sight.own && counts[static_cast<std::size_t>(j - sight.own)] == 0) continue;
            if (square_apart(sight, i, j) < reach * reach)
                outer_.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(j)});
        }
    inner_ = outer_;
}

void Pairs::prune(const Sight& sight, double inner) {
    inner_.clear();
    for (const Pair& pair : outer_)
        if (square_apart(sight, pair[0], pair[1]) < inner * inner) inner_.push_back(pair);
}

Sums Pairs::forces(const Sight& sight, const LennardJones& potential, Precision, bool sums,
                   double* const f[3]) const {
    Sums total;
    for (const auto& [i, j] : inner_) {
        std::size_t kind = 0;
        if (sight.species != nullptr)
            kind = static_cast<std::size_t>(sight.species[i] * potential.species + sight.species[j]);
        const double square = square_apart(sight, i, j), cut = potential.cutoff[kind];
        if (square >= cut * cut) continue;
        const double eps = potential.epsilon[kind], sigma = potential.sigma[kind];
        const double six = std::pow(sigma * sigma / square, 3), six_cut = std::pow(sigma / cut, 6);
        const double r = std::sqrt(square), slope_cut = -24 * eps * six_cut * (2 * six_cut - 1) / cut;
        double energy = 4 * eps * six * (six - 1), pull = 24 * eps * six * (2 * six - 1) / square;
        if (potential.shift != Shift::none) energy -= 4 * eps * six_cut * (six_cut - 1);
        if (potential.shift == Shift::force) energy -= (r - cut) * slope_cut, pull += slope_cut / r;
        double d[3];
        for (int c = 0; c < 3; ++c) {
            d[c] = sight.x[c][i] - sight.x[c][j];
            f[c][i] += pull * d[c], f[c][j] -= pull * d[c];
        }
        if (!sums) continue;
        total.energy += energy;
        constexpr int kFirst[] = {0, 1, 2, 0, 0, 1}, kSecond[] = {0, 1, 2, 1, 2, 2};
        for (int k = 0; k < 6; ++k) total.virial[k] += pull * d[kFirst[k]] * d[kSecond[k]];
    }
    return total;
}

std::size_t Pairs::bytes() const { return (outer_.capacity() + inner_.capacity()) * sizeof(Pair); }

}  // namespace strata::md
