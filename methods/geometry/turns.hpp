// Turns of vectors in space, about an axis through the origin.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::geometry {

using graph::Real3;
using graph::Rotation;

/// Rodrigues' formula, about an axis of length 1; radians. What lies along the axis keeps its bits.
[[nodiscard]] inline Rotation turned_about(const Real3& n, double angle) {
    const double c = std::cos(angle), s = std::sin(angle);
    Rotation turn{};
    for (std::size_t a = 0; a < 3; ++a) {
        const std::size_t b = (a + 1) % 3, d = (a + 2) % 3;
        turn[a][a] = n[a] * n[a] + c * (1 - n[a] * n[a]);
        turn[a][b] = (1 - c) * n[a] * n[b] - s * n[d];
        turn[a][d] = (1 - c) * n[a] * n[d] + s * n[b];
    }
    return turn;
}
[[nodiscard]] inline Rotation transposed(const Rotation& of) {
    Rotation made{};
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) made[r][c] = of[c][r];
    return made;
}
[[nodiscard]] inline Real3 turned(const Rotation& by, const Real3& x) {
    Real3 to{};
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t b = 0; b < 3; ++b) to[a] += by[a][b] * x[b];
    return to;
}
/// Turns three components of a vector back.
inline void turn_back(const Rotation& by, double* vector) {
    const Real3 u = turned(transposed(by), {vector[0], vector[1], vector[2]});
    for (std::size_t d = 0; d < 3; ++d) vector[d] = u[d];
}
/// How far two turns differ, at most.
[[nodiscard]] inline double difference(const Rotation& a, const Rotation& b) {
    double most = 0;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) most = std::max(most, std::abs(a[r][c] - b[r][c]));
    return most;
}

/// The powers of a turn that takes a whole onto itself, of which a sector is there: none at all first, until
/// the whole is filled. A turn that fills no whole: none, and one forwards and one backwards.
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
    return {graph::kNoRotation, turn, transposed(turn)};
}

}  // namespace strata::geometry
