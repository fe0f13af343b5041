// The pairs of a patch that are closer than a cutoff, for potentials that have no kernel of their own.
#pragma once

#include <cmath>
#include <cstdint>

#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

/// Two atoms, their kinds, and x_i - x_j.
struct NearPair {
    std::int64_t i, j;
    std::int32_t a, b;
    double d[3], square;

    /// Adds the force pull * d to atom i and its opposite to j, and to the virial.
    void pull(double by, double* const f[3], Sums& sums) const {
        for (int c = 0; c < 3; ++c) {
            const double force = by * d[c];
            f[c][i] += force;
            f[c][j] -= force;
        }
        constexpr int kFirst[] = {0, 1, 2, 0, 0, 1}, kSecond[] = {0, 1, 2, 1, 2, 2};
        for (int k = 0; k < 6; ++k) sums.virial[k] += by * d[kFirst[k]] * d[kSecond[k]];
    }
};

/// Calls each(NearPair) in the order of the list.
template <class Each>
void visit(const Pairs& pairs, const Sight& sight, double cutoff, Each each) {
    const double most = cutoff * cutoff;
    pairs.for_each([&](std::int64_t i, std::int64_t j) {
        NearPair pair{i, j, 0, 0, {}, 0};
        for (int c = 0; c < 3; ++c) {
            pair.d[c] = sight.x[c][i] - sight.x[c][j];
            pair.square += pair.d[c] * pair.d[c];
        }
        if (pair.square >= most) return;
        if (sight.species != nullptr) pair.a = sight.species[i], pair.b = sight.species[j];
        each(pair);
    });
}

}  // namespace strata::md
