// Curvilinear grids in zones: where their nodes lie, which parts of faces are boundaries, and which are
// joined.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"
#include "core/graph/declare/zones.hpp"

namespace strata::flow {

using graph::Box;
using graph::Face;
using graph::Int3;
using graph::Real3;

/// Nodes of a face, or of a box: both ends included, as in ZoneList. In two dimensions k goes from 0 to 1.
using Points = graph::ZoneList::Points;

/// A zone, and where it lies in the zones of the file or generator that it was cut from.
struct ZoneShape {
    std::string name;
    Int3 cells{1, 1, 1};  // (ni, nj, 1) in two dimensions
    int origin = 0;       // the zone there
    Int3 first{};         // its node there that is this zone's node (0, 0, 0)
    Int3 step{1, 1, 1};   // -1: this axis runs backwards there (a left-handed zone is turned)
    Int3 axes{0, 1, 2};   // the axis there that is this zone's axis a (planes of a three-dimensional file)
};

/// A face, node or cell of a zone as the file or generator has it, indices from 0. What users read and write
/// has these: names of faces, indices in messages, tables and files. Example: j runs backwards in a zone of
/// 8 cells along j, so its face j-min is j-max there, and its node (3, 0, 0) is (3, 8, 0).
[[nodiscard]] Face given_face(const ZoneShape& shape, const Face& face);
[[nodiscard]] Int3 given_node(const ZoneShape& shape, const Int3& node);
[[nodiscard]] Int3 given_cell(const ZoneShape& shape, const Int3& cell);

/// Nodes of zones, given in boxes: no process need hold all of them. Any number of threads may ask.
class GridSource {
  public:
    GridSource() = default;
    virtual ~GridSource() = default;
    GridSource(const GridSource&) = delete;
    GridSource& operator=(const GridSource&) = delete;

    [[nodiscard]] virtual std::span<const ZoneShape> zones() const = 0;
    /// 2 or 3: components of a node.
    [[nodiscard]] virtual int dimensions() const = 0;
    /// Coordinates of a box of nodes (lo <= i < hi; a zone has the nodes 0 to `cells`, in two dimensions k =
    /// 0 alone): first x of all nodes, i fastest, then y, then z. Throws Error where a file cannot be read.
    virtual void nodes(int zone, const Box& nodes, double* x) const = 0;
    /// The same of iblank (0: hole, 1: field, 2: wall, -n: joined with zone n); 1 where a grid has none.
    virtual void blanks(int zone, const Box& nodes, std::int32_t* blank) const;
    [[nodiscard]] virtual bool has_blanks() const { return false; }

    /// All nodes of a zone.
    [[nodiscard]] Box node_box(int zone) const;
};

/// A rectangle of a face on which one boundary condition holds. Names are those of the map file or generator.
struct BoundaryRange {
    int zone = 0;
    Face face;
    Points points;
    std::string name;
};

/// Two rectangles that are one and the same, in the words of ZoneList::join_parts.
struct JoinRange {
    int zone = 0;
    Points points;
    int donor = 0;
    Points donor_points;
    Int3 transform{1, 2, 3};
    /// Periodic joins: a place x of the donor is seen by the zone at turn x + shift.
    graph::Rotation turn = graph::kNoRotation;
    Real3 shift{};
};

/// A grid as the solver needs it.
struct GridSystem {
    std::shared_ptr<const GridSource> source;
    std::vector<BoundaryRange> boundaries;
    std::vector<JoinRange> joins;
    int dimensions = 2;
    std::vector<std::string> notes;        // what a user should be told: faces collapsed, zones cut
    std::vector<int> mesh = {};            // [zone] its mesh, where several overlap; none: all are one
    std::vector<std::string> turned = {};  // what is told with --quiet too: left-handed zones
};

/// Cuts zones where a range ends within a face, so that each face of the new zones is wholly joined (to one
/// or several donors) or wholly one boundary. Faces already so are left whole. A C-grid becomes three zones.
/// Zones with more cells along an axis than `most` (0: any number) are cut into equal parts, too: at
/// multiples of 16, 8, 4 or 2 cells where the zone has such a number.
/// Throws Error for a part of a face that has neither condition nor join, has two of them, or whose range is
/// none of a face: with zone and indices. Keeps what is not cut.
[[nodiscard]] GridSystem cut(GridSystem whole, const Int3& most = {});

/// For messages, as the file or generator has it: "zone 2 (wing)" with numbers from 1 (meshes that overlap:
/// in the order of meshes), "i-min", "k-max", and the letter of an axis.
[[nodiscard]] std::string zone_text(const GridSource& source, int zone);
[[nodiscard]] std::string face_text(const GridSource& source, int zone, const Face& face);
[[nodiscard]] char axis_text(const GridSource& source, int zone, std::size_t axis);
/// Nodes and cells from 1: "(49, 1)" in two dimensions, "(1, 49, 1)" where a three-dimensional file has
/// planes. Of a range: "(1, 1) to (49, 1)", upwards.
[[nodiscard]] std::string node_text(const GridSource& source, int zone, const Int3& node);
[[nodiscard]] std::string cell_text(const GridSource& source, int zone, const Int3& cell);
[[nodiscard]] std::string range_text(const GridSource& source, int zone, const Points& points);

}  // namespace strata::flow
