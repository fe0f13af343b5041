// What walls do to values of grid points: plain functions on a patch's values with the layer beyond the
// domain.
//
// Linear functions have grid points on the wall: the velocity there is zero, or zero across it. B-splines
// have none; the solid is continued beyond the wall by its image, so what came to a point beyond is added to
// the point inside, and velocities beyond are those inside, with the sign that makes the wall's zero.
#pragma once

#include "solvers/mpm/settings.hpp"
#include "solvers/mpm/shape.hpp"

namespace strata::mpm {

/// Of a patch: at which of its sides there are walls.
struct Walls {
    bool at[3][2];  // [axis][upper]
    bool stick[3];
    bool quadratic;
    Box cells;

    Walls(const Settings& s, const graph::Grid& grid, int patch)
        : quadratic(s.quadratic()), cells(grid.box(patch)) {
        for (int a = 0; a < 3; ++a) {
            for (int upper = 0; upper < 2; ++upper) at[a][upper] = grid.at_border(patch, a, upper);
            stick[a] = s.wall(static_cast<std::size_t>(a)) == Wall::fixed;
        }
    }
    /// Of component c of a vector in the image behind a wall across `axis`.
    [[nodiscard]] double sign(int axis, int c) const { return stick[axis] || c == axis ? -1 : 1; }

    /// body(point inside, point beyond, axis) for all points of `box` (with the layer beyond) at walls.
    template <class Body>
    void for_images(const Box& box, Body body) const {
        for (int a = 0; a < 3; ++a)
            for (int upper = 0; upper < 2; ++upper) {
                if (!at[a][upper]) continue;
                const auto d = static_cast<std::size_t>(a);
                Box layer = box;
                layer.lo[d] = upper != 0 ? cells.hi[d] : cells.lo[d] - 1;
                layer.hi[d] = layer.lo[d] + 1;
                each(layer, [&](const Int3& beyond) {
                    Int3 inside = beyond;
                    inside[d] += upper != 0 ? -1 : 1;
                    body(inside, beyond, a);
                });
            }
    }
    /// Sums at points beyond walls come to the points inside: components first .. first + 2 are a vector's,
    /// and with `scalar` there is a number after them.
    void fold(const FieldView<double>& sums, int first, bool scalar) const {
        if (!quadratic) return;
        for_images(sums.box(), [&](const Int3& in, const Int3& out, int axis) {
            for (int c = 0; c < (scalar ? 4 : 3); ++c) {
                double& beyond = sums(out[0], out[1], out[2], first + c);
                sums(in[0], in[1], in[2], first + c) += c < 3 ? sign(axis, c) * beyond : beyond;
                beyond = 0;
            }
        });
    }
    /// What the gradient of a density is where the solid is continued as its mirror image.
    void mirror(const FieldView<double>& gradient, int first) const {
        if (quadratic) {
            for_images(gradient.box(), [&](const Int3& in, const Int3& out, int axis) {
                for (int c = 0; c < 3; ++c) {
                    double& beyond = gradient(out[0], out[1], out[2], first + c);
                    gradient(in[0], in[1], in[2], first + c) += c == axis ? -beyond : beyond;
                    beyond = 0;
                }
            });
            return;
        }
        for_faces(gradient.box(),
                  [&](const Int3& at, int axis, int) { gradient(at[0], at[1], at[2], first + axis) = 0; });
    }
    /// Makes a vector field, from component `first` on, what the walls allow.
    void hold(const FieldView<double>& v, int first) const {
        if (quadratic) {
            for_images(v.box(), [&](const Int3& in, const Int3& out, int axis) {
                for (int c = 0; c < 3; ++c)
                    v(out[0], out[1], out[2], first + c) = sign(axis, c) * v(in[0], in[1], in[2], first + c);
            });
            return;
        }
        for_faces(v.box(), [&](const Int3& at, int axis, int) {
            for (int c = 0; c < 3; ++c)
                if (stick[axis] || c == axis) v(at[0], at[1], at[2], first + c) = 0;
        });
    }

  private:
    /// body(point, axis, upper) for the points on walls.
    template <class Body>
    void for_faces(const Box& box, Body body) const {
        for (int a = 0; a < 3; ++a)
            for (int upper = 0; upper < 2; ++upper) {
                if (!at[a][upper]) continue;
                const auto d = static_cast<std::size_t>(a);
                Box wall = box;
                wall.lo[d] = upper != 0 ? cells.hi[d] : cells.lo[d];
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
};

}  // namespace strata::mpm
