// Cuts through the flow: planes x, y or z = value, half planes through the axis of a rotor, surfaces on which
// the Q criterion has a value, and surfaces of nodes with one index; as rows of points and as polygons.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"
#include "core/graph/declare/view.hpp"
#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// One cut: "x = 0.5"; "2: k = 5" (nodes of zone 2 of the grid as given, from 1); "azimuth = 60" (degrees
/// about the frame's axis, right-handed, from the axis after it); "Q = 0.01".
struct Slice {
    enum class Kind { plane, nodes, azimuth, criterion };
    Kind kind = Kind::plane;
    int axis = 0;              // of space, or of indices of the file; azimuth: the frame's
    double place = 0;          // the coordinate, the angle in degrees, or the value of Q
    int zone = -1;             // of nodes: the zone, from 0
    int node = 0;              // and its nodes, from 0
    graph::Real3 centre = {};  // azimuth: a point of the axis
    std::string name = {};     // for files: "x-0.5", "zone-2-k-5", "azimuth-60", "q-0.01"
};

/// Throws Error for a text that says none, or an axis that is not there.
[[nodiscard]] Slice slice_of(const std::string& text, int dimensions);

/// Density, velocity, pressure; where they are found, vorticity, Q.
using SliceValues = std::array<double, 9>;

/// What one cell has of a cut: the middle of the piece, its area (2D: length), and the means of values there.
struct SliceRow {
    graph::Real3 x{};
    double size = 0;
    SliceValues values{};
    graph::Int3 cell{};
};

/// What a patch has of a cut as triangles and quadrilaterals (2D: lines). Points are there once, so that
/// values are continuous from cell to cell.
struct SliceSurface {
    std::vector<graph::Real3> points;
    std::vector<SliceValues> values;    // at points
    std::vector<std::int64_t> corners;  // points of all polygons, one polygon after the other
    std::vector<std::int64_t> ends;     // how many corners there are up to the end of each polygon
    std::vector<graph::Int3> cells;     // that each polygon is of
};

/// A cut: a row for each cell, and its surface.
struct SlicePieces {
    std::vector<SliceRow> rows;
    SliceSurface surface;
};

/// Whether a cell is cut. An empty one: all are.
using IsCut = std::function<bool(const graph::Int3& cell)>;

/// Values at the nodes of a patch: rho, rho u, rho E (Dim + 2 components).
using NodeValues = graph::FieldView<const double>;
/// Where none are found.
[[nodiscard]] inline NodeValues no_vortices() { return {nullptr, 0, 0, 0, {{0, 0, 0}, {0, 0, 0}}}; }

/// The pieces of a surface in the cells of a box. Cells are cut as six tetrahedra (2D: two triangles) within
/// which values are linear: exact for linear functions. A node in the plane counts as above it, so that
/// pieces between cells are there once. `nodes`: places (Dim components). `vortices`: vorticity (2D: one
/// component, 3D: three) and Q at nodes, or a view of nothing; a surface of Q needs them.
template <int Dim>
[[nodiscard]] SlicePieces cut_cells(const Slice& slice, const graph::Box& cells,
                                    const graph::FieldView<const double>& nodes, const NodeValues& values,
                                    double gamma, const IsCut& is_cut = {},
                                    const NodeValues& vortices = no_vortices());

/// The faces of a box of cells whose nodes have index `node` along an axis, where there are any in it: those
/// of cells above; with `below` of those below.
template <int Dim>
[[nodiscard]] SlicePieces index_faces(int axis, int node, bool below, const graph::Box& cells,
                                      const graph::FieldView<const double>& nodes, const NodeValues& values,
                                      double gamma, const IsCut& is_cut = {},
                                      const NodeValues& vortices = no_vortices());

}  // namespace strata::flow
