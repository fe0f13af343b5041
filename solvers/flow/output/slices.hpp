// Cuts through the flow: planes x, y or z = value, and surfaces of nodes with one index, as rows of points
// and as polygons.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"
#include "core/graph/declare/view.hpp"
#include "solvers/flow/grid/grid.hpp"

namespace strata::flow {

/// One cut: "x = 0.5" or "2: k = 5" (nodes of zone 2 of the grid as given, from 1).
struct Slice {
    int axis = 0;           // of space, or of indices
    double place = 0;       // plane: the coordinate
    int zone = -1;          // surface of an index: the zone, from 0; -1: a plane
    int node = 0;           // and its nodes, from 0
    std::string name = {};  // for files: "x-0.5", "zone-2-k-5"
};

/// Throws Error for a text that says none, or an axis that is not there.
[[nodiscard]] Slice slice_of(const std::string& text, int dimensions);

/// What one cell has of a cut: the middle of the piece, its area (2D: length), and the means of values there.
struct SliceRow {
    graph::Real3 x{};
    double size = 0;
    std::array<double, 5> values{};  // density, velocity, pressure
    graph::Int3 cell{};
};

/// What a patch has of a cut as triangles and quadrilaterals (2D: lines). Points are there once, so that
/// values are continuous from cell to cell.
struct SliceSurface {
    std::vector<graph::Real3> points;
    std::vector<std::array<double, 5>> values;  // density, velocity, pressure at points
    std::vector<std::int64_t> corners;          // points of all polygons, one polygon after the other
    std::vector<std::int64_t> ends;             // how many corners there are up to the end of each polygon
    std::vector<graph::Int3> cells;             // that each polygon is of
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

/// The pieces of a plane in the cells of a box. Cells are cut as six tetrahedra (2D: two triangles) within
/// which values are linear: exact for linear functions. A node in the plane counts as above it, so that
/// pieces between cells are there once. `nodes`: places (Dim components).
template <int Dim>
[[nodiscard]] SlicePieces cut_cells(const Slice& plane, const graph::Box& cells,
                                    const graph::FieldView<const double>& nodes, const NodeValues& values,
                                    double gamma, const IsCut& is_cut = {});

/// The faces of a box of cells whose nodes have index `node` along an axis, where there are any in it: those
/// of cells above; at the upper end of the zone (`last`) of those below.
template <int Dim>
[[nodiscard]] SlicePieces index_faces(int axis, int node, bool last, const graph::Box& cells,
                                      const graph::FieldView<const double>& nodes, const NodeValues& values,
                                      double gamma, const IsCut& is_cut = {});

}  // namespace strata::flow
