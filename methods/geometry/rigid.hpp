// Rigid motions: where what moves as a body takes its places, and how fast.
#pragma once

#include <cstddef>

#include "methods/geometry/bounds.hpp"
#include "methods/geometry/turns.hpp"

namespace strata::geometry {

/// x -> turn x + shift. One that moves nothing returns the same bits.
struct Rigid {
    Rotation turn = graph::kNoRotation;
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
        Rigid made{transposed(turn), {}};
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

/// A turn about an axis of length 1 through `centre`; radians.
[[nodiscard]] inline Rigid turned_about(const Real3& axis, const Real3& centre, double angle) {
    if (angle == 0) return {};
    Rigid made{turned_about(axis, angle), {}};
    const Real3 there = made.vector(centre);
    for (std::size_t d = 0; d < 3; ++d) made.shift[d] = centre[d] - there[d];
    return made;
}

/// Takes places of one body, before it moved, to where another body that moved had what is there now.
[[nodiscard]] inline Rigid seen_by(const Rigid& other, const Rigid& own) {
    return own == other ? Rigid{} : other.inverse().after(own);
}

/// A box around what a motion makes of a box.
[[nodiscard]] inline Bounds moved(const Bounds& box, const Rigid& by) {
    if (!by.moves() || box.lo[0] > box.hi[0]) return box;
    Bounds made;
    for (int n = 0; n < 8; ++n)
        made.add(by(Real3{(n & 1) != 0 ? box.hi[0] : box.lo[0], (n & 2) != 0 ? box.hi[1] : box.lo[1],
                          (n & 4) != 0 ? box.hi[2] : box.lo[2]}));
    return made;
}

/// The velocity at x: velocity + spin x (x - centre). Spin is an angle in radians per time; in two dimensions
/// along z.
struct RigidMotion {
    Real3 velocity{}, spin{}, centre{};
    [[nodiscard]] Real3 at(const Real3& x) const {
        const Real3 r{x[0] - centre[0], x[1] - centre[1], x[2] - centre[2]};
        return {velocity[0] + spin[1] * r[2] - spin[2] * r[1], velocity[1] + spin[2] * r[0] - spin[0] * r[2],
                velocity[2] + spin[0] * r[1] - spin[1] * r[0]};
    }
};

}  // namespace strata::geometry
