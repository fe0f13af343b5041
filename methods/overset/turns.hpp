// Turns that take a flow onto itself, where a sector stands for the whole.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::overset {

using graph::Real3;
using graph::Rotation;

[[nodiscard]] inline Real3 turned(const Rotation& by, const Real3& x) {
    Real3 to{};
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) to[a] += by[a][b] * x[b];
    return to;
}
[[nodiscard]] inline Real3 turned_back(const Rotation& by, const Real3& x) {
    Real3 to{};
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) to[a] += by[b][a] * x[b];
    return to;
}
/// Three components of a vector in space.
inline void turn_back(const Rotation& by, double* vector) {
    const Real3 u = turned_back(by, {vector[0], vector[1], vector[2]});
    for (std::size_t d = 0; d < 3; ++d) vector[d] = u[d];
}
/// How far two turns differ, at most.
[[nodiscard]] inline double difference(const Rotation& a, const Rotation& b) {
    double most = 0;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(a[r][c] - b[r][c]));
    return most;
}

/// The powers of a turn, none at all first, until the whole is filled. A turn that fills no whole: none, and
/// one forwards and one backwards.
[[nodiscard]] inline std::vector<Rotation> powers_of(const Rotation& turn) {
    constexpr std::size_t kMost = 1000;
    constexpr double kSame = 1e-9;
    std::vector<Rotation> all{graph::kNoRotation};
    while (all.size() < kMost) {
        Rotation next{};
        for (std::size_t a = 0; a < 3; ++a)
            for (std::size_t b = 0; b < 3; ++b)
                for (std::size_t c = 0; c < 3; ++c) next[a][c] += turn[a][b] * all.back()[b][c];
        if (difference(next, graph::kNoRotation) < kSame) return all;
        all.push_back(next);
    }
    Rotation back{};
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) back[a][b] = turn[b][a];
    return {graph::kNoRotation, turn, back};
}

}  // namespace strata::overset
