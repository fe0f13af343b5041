// What walls do to values of grid points: plain functions on a patch's values with the layer beyond the
// domain.
//
// Linear functions have grid points on the wall: the velocity there is the wall's, or its component across
// it. B-splines have none; the solid is continued beyond the wall by its image, so what came to a point
// beyond is added to the point inside, and velocities beyond are those inside, with the sign that makes the
// wall's right. GIMP has both: points on the wall, and a layer beyond. Plates are half spaces that move: grid
// points in them have their velocity.
#pragma once

#include <cmath>

#include "solvers/mpm/particles.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// Takes from `v` what a wall allows: kind, the wall's velocity, its axis, and on which side of the solid it
/// is (upper: 1). One with friction only stops what comes towards it, and slows down what slides by up to
/// `friction` times that.
template <class Vector>
inline void hold_at_wall(Wall kind, const Real3& wall, int axis, int upper, double friction, Vector v) {
    const auto a = static_cast<std::size_t>(axis);
    if (kind == Wall::friction) {
        const double approach = (upper != 0 ? 1 : -1) * (v(axis) - wall[a]);
        if (!(approach > 0)) return;
        double slip = 0;
        for (int c = 0; c < 3; ++c)
            if (c != axis) slip += std::pow(v(c) - wall[static_cast<std::size_t>(c)], 2);
        slip = std::sqrt(slip);
        const double left = slip > friction * approach ? 1 - friction * approach / slip : 0;
        for (int c = 0; c < 3; ++c) {
            const double of = wall[static_cast<std::size_t>(c)];
            v(c) = c == axis ? of : of + left * (v(c) - of);
        }
        return;
    }
    for (int c = 0; c < 3; ++c)
        if (kind == Wall::fixed || c == axis) v(c) = wall[static_cast<std::size_t>(c)];
}

/// Of a patch: at which of its sides there are walls.
class Walls {
  public:
    Walls(const Settings& s, const graph::Grid& grid, int patch)
        : settings_(s),
          images_(s.quadratic() ? 1
                  : s.gimp()    ? 2
                                : 0),
          on_nodes_(!s.quadratic()),
          cells_(grid.box(patch)) {
        for (int a = 0; a < 3; ++a)
            for (int upper = 0; upper < 2; ++upper) {
                at_[a][upper] = grid.at_border(patch, a, upper);
                kind_[a][upper] = s.wall(static_cast<std::size_t>(a), upper);
                velocity_[a][upper] = s.wall_speed(a, upper);
            }
    }

    /// Sums at points beyond walls come to the points inside: components first .. first + 2 are a vector's;
    /// `mass`: of which mass, where it is a momentum, the component that has it, and -1 where it is a force.
    void fold(const FieldView<double>& sums, int first, int mass) const {
        for_images(sums.box(), [&](const Int3& in, const Int3& out, int axis, int upper) {
            const double m = mass < 0 ? 0 : sums(out[0], out[1], out[2], mass);
            for (int c = 0; c < 3; ++c) {
                double& beyond = sums(out[0], out[1], out[2], first + c);
                const double of = velocity_[axis][upper][static_cast<std::size_t>(c)];
                const double s = sign(axis, upper, c);
                sums(in[0], in[1], in[2], first + c) += s * beyond;
                if (of != 0) sums(in[0], in[1], in[2], first + c) += (1 - s) * m * of;
                beyond = 0;
            }
            if (mass < 0) return;
            sums(in[0], in[1], in[2], mass) += m;
            sums(out[0], out[1], out[2], mass) = 0;
        });
    }
    /// What the gradient of a density is where the solid is continued as its mirror image.
    void mirror(const FieldView<double>& gradient, int first) const {
        for_images(gradient.box(), [&](const Int3& in, const Int3& out, int axis, int) {
            for (int c = 0; c < 3; ++c) {
                double& beyond = gradient(out[0], out[1], out[2], first + c);
                gradient(in[0], in[1], in[2], first + c) += c == axis ? -beyond : beyond;
                beyond = 0;
            }
        });
        for_faces(gradient.box(),
                  [&](const Int3& at, int axis, int) { gradient(at[0], at[1], at[2], first + axis) = 0; });
    }
    /// Makes a vector field, from component `first` on, what plates at time t and walls allow.
    void hold(const FieldView<double>& v, int first, double t) const {
        for (const Plate& plate : settings_.plates) hold_plate(plate, v, first, t);
        for_faces(v.box(), [&](const Int3& at, int axis, int upper) {
            hold_at_wall(kind_[axis][upper], velocity_[axis][upper], axis, upper, settings_.friction,
                         [&](int c) -> double& { return v(at[0], at[1], at[2], first + c); });
        });
        for_images(v.box(), [&](const Int3& in, const Int3& out, int axis, int upper) {
            for (int c = 0; c < 3; ++c) {
                const double of = velocity_[axis][upper][static_cast<std::size_t>(c)];
                const double s = sign(axis, upper, c);
                v(out[0], out[1], out[2], first + c) =
                    of != 0 ? s * v(in[0], in[1], in[2], first + c) + (1 - s) * of
                            : s * v(in[0], in[1], in[2], first + c);
            }
        });
    }

  private:
    /// Of component c of a vector in the image behind a wall.
    [[nodiscard]] double sign(int axis, int upper, int c) const {
        return kind_[axis][upper] == Wall::fixed || c == axis ? -1 : 1;
    }
    /// The points of a patch that a plate covers at time t.
    void hold_plate(const Plate& plate, const FieldView<double>& v, int first, double t) const {
        const auto d = static_cast<std::size_t>(plate.axis);
        const double h = settings_.spacing()[d];
        const double face = (plate.place + plate.velocity[d] * t) / h - (on_nodes_ ? 0 : 0.5);
        Box covered = v.box();
        if (plate.upper)
            covered.lo[d] = std::max(covered.lo[d], static_cast<int>(std::ceil(face - 1e-9)));
        else
            covered.hi[d] = std::min(covered.hi[d], static_cast<int>(std::floor(face + 1e-9)) + 1);
        each(covered, [&](const Int3& at) {
            hold_at_wall(plate.kind, plate.velocity, plate.axis, plate.upper ? 1 : 0, settings_.friction,
                         [&](int c) -> double& { return v(at[0], at[1], at[2], first + c); });
        });
    }
    /// body(point inside, point beyond, axis, upper) for the layer of images in `box`.
    template <class Body>
    void for_images(const Box& box, Body body) const {
        if (images_ == 0) return;
        for (int a = 0; a < 3; ++a)
            for (int upper = 0; upper < 2; ++upper) {
                if (!at_[a][upper]) continue;
                const auto d = static_cast<std::size_t>(a);
                Box layer = box;
                layer.lo[d] = upper != 0 ? cells_.hi[d] + images_ - 1 : cells_.lo[d] - 1;
                layer.hi[d] = layer.lo[d] + 1;
                each(layer, [&](const Int3& beyond) {
                    Int3 inside = beyond;
                    inside[d] += upper != 0 ? -images_ : images_;
                    body(inside, beyond, a, upper);
                });
            }
    }
    /// body(point, axis, upper) for the points on walls.
    template <class Body>
    void for_faces(const Box& box, Body body) const {
        if (!on_nodes_) return;
        for (int a = 0; a < 3; ++a)
            for (int upper = 0; upper < 2; ++upper) {
                if (!at_[a][upper]) continue;
                const auto d = static_cast<std::size_t>(a);
                Box wall = box;
                wall.lo[d] = upper != 0 ? cells_.hi[d] : cells_.lo[d];
                wall.hi[d] = wall.lo[d] + 1;
                each(wall, [&](const Int3& on) { body(on, a, upper); });
            }
    }
    template <class Body>
    static void each(const Box& box, Body body) {
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) body(Int3{i, j, k});
    }

    const Settings& settings_;
    int images_;     // how far a point inside is from its image, in cells; 0: there are none
    bool on_nodes_;  // there are points on walls
    Box cells_;
    bool at_[3][2];  // [axis][upper]
    Wall kind_[3][2];
    Real3 velocity_[3][2];
};

}  // namespace strata::mpm
