// How the patches of a family look in field files: where their points lie, and how these make cells.
//
//   Solver solver;
//   solver.shapes = {curvilinear("annulus", {{inner, {x, y}, hole}, {outer, {u, v}}}),
//                    unstructured("mesh", parts, {at}, {.connectivity = corners, .type =
//                    CellType::tetrahedron}), surface("skin", panels, {at}, {.connectivity = corners, .type =
//                    CellType::triangle}), table("probes", probes, {place, pressure})};
//
// A grid without a shape is an image, and a set of particles is points: they need no shape.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/resolve/resolved.hpp"
#include "core/run/output/fields.hpp"

namespace strata::graph {

/// A label of any type; without a label where nothing is said.
class ShownLabel {
  public:
    ShownLabel() = default;
    explicit ShownLabel(LabelId label) : label_(label) {}
    template <class T, Kind K>
    ShownLabel(Label<T, K> label) : label_(label.id()) {}  // NOLINT(google-explicit-constructor)
    [[nodiscard]] LabelId label() const { return label_; }

  private:
    LabelId label_;
};

/// The labels with the places of points, of f64 or f32: one of two or three components, or one for each of
/// two or three directions. With two directions z is 0.
struct Coordinates {
    Coordinates() = default;
    template <class T, Kind K>
    Coordinates(Label<T, K> all) : labels{all.id()} {}  // NOLINT(google-explicit-constructor)
    Coordinates(ShownLabel x, ShownLabel y) : labels{x.label(), y.label()} {}
    Coordinates(ShownLabel x, ShownLabel y, ShownLabel z) : labels{x.label(), y.label(), z.label()} {}
    std::vector<LabelId> labels;
};

/// VTK's numbers of cells (vtkCellType.h), those with a fixed number of corners; `by_label`: offsets, and for
/// unstructured cells types, are labels.
enum class CellType : std::uint8_t {
    by_label = 0,
    vertex = 1,
    line = 3,
    triangle = 5,
    quadrilateral = 9,
    tetrahedron = 10,
    hexahedron = 12,
    wedge = 13,
    pyramid = 14
};
/// The corners of a type; 0 where it may have any number, or is not known here.
[[nodiscard]] int corners_of(CellType type);

/// The cells of each patch, as lists of i64 or i32. Points are counted from 0 on each patch.
///   Example: two triangles (0, 1, 2) and (2, 1, 3) have the connectivity 0 1 2 2 1 3; with offsets 0 3 6.
struct CellLists {
    ShownLabel connectivity = {};
    /// The type of all cells; or by_label: then `offsets` (one more than there are cells) says where in
    /// `connectivity` each cell begins, and `types` (u8; unstructured cells only) has VTK's number of each.
    CellType type = CellType::by_label;
    ShownLabel offsets = {}, types = {};
};

/// A grid whose cells lie between the places of its nodes; of several zones (zones.hpp) each is a block. In
/// periodic directions the last nodes are the first ones, so the grid closes on itself. Nodes of a joined
/// face are shown by both its zones, each with the values of its own. Of a grid with one cell in z and two
/// directions of coordinates a surface is shown.
struct CurvilinearBlock {
    const Grid& grid;
    Coordinates at;         // on its nodes
    ShownLabel blank = {};  // numbers on its cells: where it is 0 a cell is hidden, as PLOT3D's IBLANK
};

struct ShapeOptions {
    /// A list of numbers, one a cell: where it is 0 a cell is hidden.
    ShownLabel blank = {};
    /// Lists that belong to points where patches have as many cells as points. All other lists of the family
    /// belong to what they have as many entries as.
    std::vector<ShownLabel> on_points = {};
    /// Where the number of points or cells (rows of a table) changes during the run, so that lists are as
    /// long as they may become: a list with one whole number on each patch, how many of its points or cells
    /// there are now. They are the first ones; of the connectivity, what belongs to these cells.
    ShownLabel points_now = {}, cells_now = {};
};

/// What is written to one file a step. Made by the functions below.
struct ShownShape {
    enum class Form : std::uint8_t { blocks, cells, surface, lines, table };
    struct Part {  // blocks: of one grid, or of zones; other forms have one part
        const Family* family = nullptr;
        const Grid* grid = nullptr;           // blocks on a grid, or on its zones
        std::function<Int3(int)> zone_cells;  // blocks of lists
        std::vector<LabelId> at;
        LabelId blank;
        std::vector<LabelId> on_points = {};
        LabelId points_now = {}, cells_now = {};
    };
    Form form = Form::table;
    std::string name;
    std::vector<Part> parts;
    LabelId connectivity, offsets, types;
    CellType type = CellType::by_label;
    std::vector<LabelId> columns;  // tables

    /// Whether the label says what the shape looks like.
    [[nodiscard]] bool uses(LabelId label) const;
    /// Whether numbers of points or cells change.
    [[nodiscard]] bool counted() const { return parts[0].points_now || parts[0].cells_now; }
};

/// Blocks of curvilinear cells, each on a grid. In a file a block is called as its grid, blocks of several
/// zones GRID-0000 and so on. A label "inner.pressure" of the grid "inner" is "pressure" there.
[[nodiscard]] ShownShape curvilinear(std::string name, const std::vector<CurvilinearBlock>& blocks);
/// The same of lists: each patch of the family is a block of cells(patch), in x, y and z, with lists in
/// which x runs fastest. Blocks are called FAMILY-0000 and so on.
[[nodiscard]] ShownShape curvilinear(std::string name, const Family& family,
                                     std::function<Int3(int patch)> cells, Coordinates at,
                                     const ShapeOptions& options = {});
/// Cells of any types.
[[nodiscard]] ShownShape unstructured(std::string name, const Family& family, Coordinates at,
                                      const CellLists& cells, const ShapeOptions& options = {});
/// Polygons, and lines of two or more points.
[[nodiscard]] ShownShape surface(std::string name, const Family& family, Coordinates at,
                                 const CellLists& polygons, const ShapeOptions& options = {});
[[nodiscard]] ShownShape lines(std::string name, const Family& family, Coordinates at, const CellLists& lines,
                               const ShapeOptions& options = {});
/// Lists of equal length on each patch as columns of a table; the rows of all patches one after the other.
/// `options`: cells_now alone.
[[nodiscard]] ShownShape table(std::string name, const Family& family, const std::vector<ShownLabel>& columns,
                               const ShapeOptions& options = {});

/// Whether a label has values between steps.
[[nodiscard]] bool is_kept(const Resolved& resolved, LabelId label);
/// Throws Error where the labels of a shape do not fit: with the shape, the label, what it is and what it may
/// be.
void check_shape(const Graph& graph, const Resolved& resolved, const ShownShape& shape);

/// Whether a block with these cells has one layer of points in z: it has no coordinates for z.
[[nodiscard]] bool is_flat(const Graph& graph, const ShownShape::Part& part, const Int3& cells);
/// What a patch adds to a shape of lists, at most; the rows of a table are counted as cells.
[[nodiscard]] FieldCounts counts_of(const Graph& graph, const ShownShape& shape, int patch);
/// Where a label of the shape's family belongs: On::cells, On::nodes (points), or nowhere.
enum class Belongs : std::uint8_t { nowhere, to_cells, to_points };
[[nodiscard]] Belongs belongs(const Graph& graph, const ShownShape& shape, const ShownShape::Part& part,
                              const LabelInfo& label);

/// Positions (f64, three components) of a set's particles are shown as multiples of those that are kept.
struct ShownScale {
    SetId set;
    Scalar<double> scale;
};

}  // namespace strata::graph
