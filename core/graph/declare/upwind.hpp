// Order within a task: a patch begins when its neighbours on one side have done the same task, and sees what
// they made.
#pragma once

#include <array>
#include <cstddef>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

/// Ghosts on the sides from which a sweep comes, with what the same task has made there.
///   Example: upwind(0, 1) on patches of 8 cells: the task goes up along x. On patch 2, which has the cells
///   16 to 23, it begins when it is done on patch 1, and sees cell 15 as patch 1 left it.
struct Upwind {
    Int3 towards{};        // along each axis: 1 it goes up, -1 down, 0 the order does not matter
    int layers = 1;        // of ghosts
    bool corners = false;  // also beyond edges and corners that are upwind along each of their axes
    bool in_zone = false;  // the order ends at joined faces, and so do the ghosts

    /// A patch waits for the neighbours beyond its faces, and its ghosts are the layers there. With corners
    /// it also sees what lies between them, as stencils need that read (i - 1, j - 1). Other edges and
    /// corners hold no value: along (1, 1), what lies at (i - 1, j + 1) is neither before nor after.
    [[nodiscard]] Upwind with_corners() const { return {towards, layers, true, in_zone}; }
    /// A sweep of its own in each zone: all begin at once, and what lies beyond joined faces is not shown.
    [[nodiscard]] Upwind within_zones() const { return {towards, layers, corners, true}; }
    [[nodiscard]] Upwind reversed() const {
        return {{-towards[0], -towards[1], -towards[2]}, layers, corners, in_zone};
    }
    [[nodiscard]] Int3 width() const {
        Int3 all{};
        for (std::size_t a = 0; a < 3; ++a) all[a] = towards[a] != 0 ? layers : 0;
        return all;
    }
};
/// `axis`: 0 to 2; `sign`: 1 up, -1 down.
[[nodiscard]] inline Upwind upwind(int axis, int sign, int layers = 1) {
    Upwind one{{}, layers, false};
    one.towards[static_cast<std::size_t>(axis)] = sign;
    return one;
}
/// Several axes at once: upwind({1, 1, 1}) waits for the lower neighbours along x, y and z.
[[nodiscard]] inline Upwind upwind(const Int3& towards, int layers = 1) { return {towards, layers, false}; }

/// At most three boxes.
struct SideBoxes {
    std::array<Box, 3> all;
    std::size_t count = 0;
    [[nodiscard]] const Box* begin() const { return all.data(); }
    [[nodiscard]] const Box* end() const { return all.data() + count; }
};

/// What lies upwind of a box: a layer beyond each face, or, with corners, the box with all of them.
[[nodiscard]] inline SideBoxes upwind_of(const Box& own, const Int3& width, const Int3& towards,
                                         bool corners) {
    SideBoxes sides;
    Box around = own;
    for (std::size_t a = 0; a < 3; ++a) {
        if (towards[a] == 0) continue;
        Box& side = sides.all[sides.count++];
        side = own;
        if (towards[a] > 0) {
            side.lo[a] = own.lo[a] - width[a], side.hi[a] = own.lo[a];
            around.lo[a] = side.lo[a];
        } else {
            side.lo[a] = own.hi[a], side.hi[a] = own.hi[a] + width[a];
            around.hi[a] = side.hi[a];
        }
    }
    if (corners) sides.all[0] = around, sides.count = 1;
    return sides;
}
/// What of them lies in a box.
[[nodiscard]] inline SideBoxes common(SideBoxes sides, const Box& all) {
    for (std::size_t i = 0; i < sides.count; ++i) sides.all[i] = common(sides.all[i], all);
    return sides;
}
/// A box with the layers beyond its faces, and nothing beyond its edges and corners: grown along each axis.
[[nodiscard]] inline SideBoxes beyond_faces(const Box& own, const Int3& width) {
    SideBoxes sides;
    for (std::size_t a = 0; a < 3; ++a) {
        if (width[a] == 0) continue;
        Box& side = sides.all[sides.count++];
        side = own;
        side.lo[a] -= width[a], side.hi[a] += width[a];
    }
    if (sides.count == 0) sides.all[sides.count++] = own;
    return sides;
}
/// The boxes in which those lie that see values of `own` upwind.
[[nodiscard]] inline SideBoxes downwind_of(const Box& own, const Int3& width, const Int3& towards,
                                           bool corners) {
    return upwind_of(own, width, {-towards[0], -towards[1], -towards[2]}, corners);
}

}  // namespace strata::graph
