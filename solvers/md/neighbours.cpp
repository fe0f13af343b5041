#include "solvers/md/neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "solvers/md/potentials/species.hpp"

namespace strata::md {

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
        double farthest = 0;
        for (std::size_t i = 0; i < count; ++i) {
            double square = 0;
            for (int c = 0; c < 3; ++c) square += (sight.x[c][i] - at_[c][i]) * (sight.x[c][i] - at_[c][i]);
            farthest = std::max(farthest, square);
        }
        way_ = way - std::sqrt(farthest) - std::max(0.0, cutoff - cutoff_) / 2;
        if (2 * (way - way_) <= margin) return;
    }
    pairs_.prune(sight, cutoff + margin);
    for (int c = 0; c < 3; ++c) at_[c].assign(sight.x[c], sight.x[c] + count);
    way_ = way, cutoff_ = cutoff;
}

std::size_t Neighbours::bytes() const {
    return sizeof *this + pairs_.bytes() + 3 * at_[0].capacity() * sizeof(double) +
           species_.capacity() * sizeof(std::int32_t);
}

}  // namespace strata::md
