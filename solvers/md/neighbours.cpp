#include "solvers/md/neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/md/pair/refit.hpp"
#include "solvers/md/potentials/species.hpp"

namespace strata::md {

namespace {

/// Positions at a pruning are kept in this unit of length, modulo 2^32: what an atom has moved since is far
/// less, so differences are right wherever it is, in half the memory of doubles.
constexpr double kUnit = 0x1p-20;
std::uint32_t in_units(double x) {
    return static_cast<std::uint32_t>(static_cast<std::int64_t>(x * (1 / kUnit)));
}
/// Each of both positions is wrong by less than a unit along each axis.
constexpr double kRounding = 4 * kUnit;

/// The longest way that an atom has moved since.
double farthest(const Sight& sight, const std::vector<std::uint32_t> (&since)[3]) {
    double most = 0;
    for (std::size_t i = 0; i < since[0].size(); ++i) {
        double square = 0;
        for (int c = 0; c < 3; ++c) {
            const double way = static_cast<std::int32_t>(in_units(sight.x[c][i]) - since[c][i]);
            square += way * way;
        }
        most = std::max(most, square);
    }
    return kUnit * std::sqrt(most) + kRounding;
}

}  // namespace

void Neighbours::build(const Sight& sight, double reach) {
    // Of two patches one alone sees the other, so all pairs with its halo are this patch's.
    static thread_local std::vector<std::uint8_t> counts;
    counts.assign(static_cast<std::size_t>(sight.all - sight.own), 1);
    pairs_.build(sight, counts, reach);
    species_.clear();
    if (sight.species != nullptr) species_.assign(sight.species, sight.species + sight.all);
    way_ = -1;
}

Sums Neighbours::forces(const Sight& sight, const LennardJones& potential, Precision precision, bool sums,
                        double* const f[3], double way, double margin) const {
    if (margin > 0) prune_when_due(sight, largest_cutoff(potential), way, margin);
    return pairs_.forces(sight, potential, precision, sums, f);
}

void Neighbours::prune_when_due(const Sight& sight, double cutoff, double way, double margin) const {
    const auto count = static_cast<std::size_t>(sight.all);
    if (way_ >= 0) {
        if (2 * (way - way_) <= margin) return;
        way_ = way - farthest(sight, at_) - std::max(0.0, cutoff - cutoff_) / 2;
        if (2 * (way - way_) <= margin) return;
    }
    pairs_.prune(sight, cutoff + margin);
    for (int c = 0; c < 3; ++c) {
        refit(at_[c], count);
        for (std::size_t i = 0; i < count; ++i) at_[c][i] = in_units(sight.x[c][i]);
    }
    way_ = way, cutoff_ = cutoff;
}

std::size_t Neighbours::bytes() const {
    return sizeof *this + pairs_.bytes() + 3 * at_[0].capacity() * sizeof(std::uint32_t) +
           species_.capacity() * sizeof(std::int32_t);
}

}  // namespace strata::md
