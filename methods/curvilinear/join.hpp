// Joins of matching points: found from the nodes of faces, and checked.
#pragma once

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// Places x of donors are looked for at turn x + shift as well.
struct Periodic {
    graph::Rotation turn = graph::kNoRotation;
    Real3 shift{};
};

/// Adds the joins of all parts of faces that are neither boundaries nor joined yet and whose nodes match:
/// those of other zones, of the same zone (a wake cut, an O-grid), and images by `periodic`. Holds the nodes
/// of such faces. The result depends on the grid alone: rectangles are grown from the lowest zone, face and
/// index on. Faces that are collapsed (to an axis, a line or a point) become boundaries of the name
/// "collapsed", with a note.
void find_joins(GridSystem& system, const std::vector<Periodic>& periodic = {});

/// What is left becomes a boundary named ZONE:i-min and so on: whole faces and rectangles of what is free.
void name_the_rest(GridSystem& system);

/// Throws Error with zone, indices and distance where nodes of a join do not match (to a hundredth of the
/// shortest edge at them).
void check_joins(const GridSystem& system);

/// Throws Error naming a zone to which no way leads from zone 1 through joins.
void check_connected(const GridSystem& system);

}  // namespace strata::flow
