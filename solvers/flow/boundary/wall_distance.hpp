// The distance to the nearest wall, in all zones, in pieces. Tasks of the start scope; where meshes move
// against each other, of each step as well.
//
// Each patch with walls makes a tree of its own wall elements, and tells all patches the box around them.
// Each patch then asks, cell by cell, the wall patch whose box is nearest, and further ones as long as their
// boxes are nearer than the nearest wall so far: rounds of requests, until no cell has anything to ask.
//
// A process so holds the wall elements of its own patches (in 3D 144 bytes a face, and the tree), the boxes
// of all wall patches (48 bytes each, once), and room for a quarter as many requests as its patches have
// cells (at most 4096 a patch; 48 bytes each, which stay). During the search also 24 bytes a cell. It works
// for the cells that ask its walls, so the search is as fast as the process with the most of these. The
// distance is to the elements, not to points of them. It has the same bits on all layouts.
//
// A mesh that moves as a body keeps the distance to its own walls. Trees stay in the frame of their mesh,
// where the places of others are taken to, and in each step a cell asks for walls of other meshes that may be
// nearer than its own alone.
//
// Walls are those of the grid: images beyond a symmetry plane or a periodic join are not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/zones.hpp"
#include "methods/geometry/rigid.hpp"

namespace strata::flow {

inline constexpr double kNoWall = std::numeric_limits<double>::infinity();

/// Declares that a task needs a field of its patch, and gives what shows it: nodes and centres may be fields,
/// or parts of lists.
using ViewOf = std::function<std::function<graph::FieldView<const double>(const graph::Here&)>(graph::Task&)>;

struct WallSearch {
    const graph::Grid& grid;
    int dimensions = 3;
    /// [patch] the faces that are walls.
    std::vector<std::vector<graph::Face>> walls;
    ViewOf nodes;
    graph::Field<double> centres;   // `dimensions` components
    graph::Field<double> distance;  // made here; `none` where no wall is seen
    std::string name = "wall distance";
    /// [patch] A cell sees walls of patches with its own number alone. Empty: all.
    std::vector<int> group = {};
    double none = kNoWall;  // the distance where no wall is seen
    /// Of meshes that move, whose numbers are `group`: takes places of one mesh to where another one sees
    /// them at a step (0: at first). All walls are seen then, and the distance is found anew in each step.
    std::function<geometry::Rigid(int mesh, int by, std::int64_t step)> seen = {};
};
/// Declares the tasks.
void declare_wall_distance(graph::Graph& graph, const WallSearch& search);

}  // namespace strata::flow
