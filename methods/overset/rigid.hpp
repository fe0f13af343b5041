// Rigid motions: where a mesh that moves as a body takes its places.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "core/graph/declare/zones.hpp"
#include "methods/overset/box_tree.hpp"

namespace strata::overset {

/// x -> turn x + shift. One that moves nothing returns the same bits.
struct Rigid {
    graph::Rotation turn = graph::kNoRotation;
    Real3 shift{};

    [[nodiscard]] bool turns() const { return turn != graph::kNoRotation; }
    [[nodiscard]] bool moves() const { return turns() || shift != Real3{}; }
    [[nodiscard]] Real3 vector(const Real3& v) const {
        if (!turns()) return v;
        Real3 made{};
        for (std::size_t r = 0; r < 3; ++r)
            made[r] = turn[r][0] * v[0] + turn[r][1] * v[1] + turn[r][2] * v[2];
        return made;
    }
    [[nodiscard]] Real3 operator()(const Real3& x) const {
        if (!moves()) return x;
        Real3 made = vector(x);
        for (std::size_t d = 0; d < 3; ++d) made[d] += shift[d];
        return made;
    }
    [[nodiscard]] Rigid inverse() const {
        Rigid made;
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c) made.turn[r][c] = turn[c][r];
        const Real3 back = made.vector(shift);
        for (std::size_t d = 0; d < 3; ++d) made.shift[d] = 0 - back[d];
        return made;
    }
    /// First that one, then this.
    [[nodiscard]] Rigid after(const Rigid& first) const {
        Rigid made;
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t c = 0; c < 3; ++c)
                made.turn[r][c] = turn[r][0] * first.turn[0][c] + turn[r][1] * first.turn[1][c] +
                                  turn[r][2] * first.turn[2][c];
        made.shift = (*this)(first.shift);
        return made;
    }
    friend bool operator==(const Rigid&, const Rigid&) = default;
};

/// A box around what a motion makes of a box.
[[nodiscard]] inline Bounds moved(const Bounds& box, const Rigid& by) {
    if (!by.moves() || box.lo[0] > box.hi[0]) return box;
    Bounds made;
    for (int n = 0; n < 8; ++n)
        made.add(by(Real3{(n & 1) != 0 ? box.hi[0] : box.lo[0], (n & 2) != 0 ? box.hi[1] : box.lo[1],
                          (n & 4) != 0 ? box.hi[2] : box.lo[2]}));
    return made;
}

}  // namespace strata::overset
