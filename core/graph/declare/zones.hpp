// Several grids in one family: zones, each with indices, a shape and an orientation of its own and divided
// into patches of its own. One set of tasks runs on the patches of all.
//
//   ZoneList list("pipe");
//   const int in = list.zone({{0, 0, 0}, {8, 6, 1}}, {4, 3, 1});
//   const int out = list.zone({{0, 0, 0}, {6, 5, 1}}, {6, 5, 1});
//   list.join(in, {0, true}, out, {1, false}, {2, -1, 3});  // x of `in` goes on as y of `out`, y as -x
//   const Zones& pipe = graph.add<Zones>(std::move(list));
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/family.hpp"

namespace strata::graph {

/// A side of a zone: its lower or upper end along an axis (0 to 2).
struct Face {
    int axis = 0;
    bool upper = false;
};

/// Zones, and which parts of their faces are one and the same: what Zones is made of. Each call throws Error
/// where what it says cannot be.
class ZoneList {
  public:
    explicit ZoneList(std::string name) : name_(std::move(name)) {}

    /// Adds a zone of these cells (one cell in directions that are not there), in patches of equal size.
    /// Returns its number, counted from 0.
    int zone(const Box& cells, const Int3& patch_cells);

    /// Nodes (corners of cells) of a face, both ends included: a zone of cells 0 .. 8 has the nodes 0 to 8.
    struct Points {
        Int3 begin{}, end{};
    };
    /// Joins a part of a face with an equal part of a face of another zone or of the same one: cells on both
    /// sides are neighbours, cell by cell. As GridConnectivity1to1_t of the CGNS SIDS (Standard Interface
    /// Data Structures) says it by PointRange, PointRangeDonor and Transform: along axis a of `zone` goes
    /// axis |transform[a]| (from 1) of the donor, backwards where it is negative, and point p of the zone is
    /// the donor's point
    ///   T (p - points.begin) + donor_points.begin,  T[i][a] = sign(transform[a]) where i = |transform[a]|.
    /// `points` runs upwards, `donor_points` as it follows from that. To be said for one of the two sides.
    /// Periodicity by rotation: `turn` takes vectors of the donor to those that the zone sees; the donor sees
    /// the zone's by the inverse. It is for labels that are vectors in space (LabelOptions::turns); others,
    /// and those without this option, are copied as they are.
    ///   Example: a sector of 30 degrees, joined with itself, upper face with lower one. What comes next
    ///   above is its lower end turned by 30 degrees about z: {{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}.
    /// Throws Error for a zone that does not exist, points that are not of a face, a transform that is no
    /// signed permutation of 1 to 3 or leads out of the donor, parts of different extent, a part of a face
    /// that is joined already (also with itself), and a turn that is not orthogonal (to 1e-12).
    void join_parts(int zone, const Points& points, int donor, const Points& donor_points,
                    const Int3& transform, const Rotation& turn = kNoRotation);
    /// Two whole faces.
    void join(int zone, const Face& face, int donor, const Face& donor_face, const Int3& transform,
              const Rotation& turn = kNoRotation);

  private:
    friend class Zones;
    /// One side of a join, in the indices of its zone.
    struct Side {
        Box cells;   // beyond the face, without end; along the face the joined ones
        Box beyond;  // and on beyond the ends of the face, where the joined part reaches these
        int donor = -1;
        IndexMap from_donor, to_donor;
    };
    struct Zone {
        std::unique_ptr<Grid> grid;  // by itself
        int first_patch = 0;
        std::array<std::vector<Side>, 6> faces;  // [2 axis + upper]

        [[nodiscard]] bool joined(std::size_t axis, bool upper) const {
            return !faces[2 * axis + (upper ? 1 : 0)].empty();
        }
        [[nodiscard]] const Box& cells() const { return grid->shape().cells; }
    };
    static constexpr int kFar = 1 << 30;
    [[nodiscard]] const Zone& at(int zone) const;
    [[nodiscard]] Face face_of(int zone, const Points& points) const;
    void add(int zone, const Face& face, const Points& points, int donor, const IndexMap& from_donor);

    /// The number of a rotation, an old one where there is an equal one.
    [[nodiscard]] std::int8_t number_of(const Rotation& turn);

    std::string name_;
    std::deque<Rotation> rotations_{kNoRotation};  // by number; they keep their addresses
    std::vector<Zone> zones_;
    int patches_ = 0;
    Box around_;  // the indices of all
};

/// The family. Patches are numbered zone by zone, x fastest within each. Boxes, views and ghosts of a patch
/// are in the indices of its zone.
///
/// Ghosts (of labels on cells) beyond a joined face are the donor's cells. A value is copied as it is, but
/// for vectors in space (LabelOptions::turns) where a join has a turn: they are multiplied by it, through
/// several such faces by the product. Components of a vector that follow a zone's axes are not turned. Beyond
/// a face without any join there is what there is beyond a grid's border: layers that the label owns
/// (LabelOptions::border) or nothing. A face of which a part is joined has no such layers.
///
/// A ghost beyond two or three faces (an edge, a corner) is found by crossing one face after the other: first
/// the one along x of the zone that it starts from, then in the zone behind it again x, y, z, until a zone
/// has the cell. Where that ends at a face that is not joined, the same is tried with y first, then z. A
/// ghost that no way leads to, beside a part of a face that is not joined or where no zone is, has all its
/// bits set: doubles and floats are NaN there, whole numbers -1. find() tells.
///
/// Not on joined zones, and refused: ghosts of nodes and faces (each zone has all of its own), sums over
/// patches (Task::sum with layers). On no several zones: particles, Overlap.
class Zones final : public Grid {
  public:
    explicit Zones(ZoneList list);

    [[nodiscard]] int zones() const override { return static_cast<int>(list_.zones_.size()); }
    [[nodiscard]] int zone_of(int patch) const override { return zone_of_[static_cast<std::size_t>(patch)]; }
    [[nodiscard]] const Box& cells(int zone) const override { return list_.at(zone).cells(); }
    /// The first patch of a zone.
    [[nodiscard]] int first_patch(int zone) const { return list_.at(zone).first_patch; }

    /// The patch that has a cell, and the cell's indices in its own zone.
    struct Place {
        int patch = -1;
        Int3 at{};
    };
    /// The cell at these indices of a zone, which may lie beyond its faces; none: no cell is there.
    [[nodiscard]] std::optional<Place> find(int zone, const Int3& at) const;

    [[nodiscard]] std::int64_t all_cells() const override;
    [[nodiscard]] Box box(int patch) const override;
    [[nodiscard]] Box owned_in(int zone, const Box& cells, On on, const Int3& border) const override;
    [[nodiscard]] Box extent_in(int zone, On on, const Int3& border) const override;
    /// Whether the patch ends at a face of its zone that has no join.
    [[nodiscard]] bool at_border(int patch, int axis, int upper) const override;
    [[nodiscard]] bool is_flat(int axis) const override;
    [[nodiscard]] int widest(int axis) const override;
    void find_owners_in(int zone, const Box& box, On on, const Int3& border,
                        std::vector<Meeting>& found) const override;
    [[nodiscard]] bool joined() const override { return joined_; }
    [[nodiscard]] const Rotation& rotation(int number) const override;
    [[nodiscard]] bool turns() const override { return turns_; }
    [[nodiscard]] std::vector<Box> missing_in(int zone, const Box& box, On on,
                                              const Int3& border) const override;
    /// Zone by zone, in each along its curve.
    [[nodiscard]] std::vector<int> order() const override;
    [[nodiscard]] std::vector<int> neighbours(int patch) const override;

    /// Patches and joins that were looked at so far, to find owners: for tests of what a plan costs.
    [[nodiscard]] std::int64_t looked_at() const { return looked_at_.load(std::memory_order_relaxed); }

  private:
    struct Search;
    void follow(Search& search, int zone, const Box& box, const IndexMap& to_asked,
                std::vector<Box>& missing) const;
    void leave(Search& search, const ZoneList::Zone& zone, const Box& region, const Int3& side,
               const IndexMap& to_asked, std::vector<Box>& missing) const;

    [[nodiscard]] const ZoneList::Zone& of(int patch) const { return list_.at(zone_of(patch)); }
    /// First `inner`, then `outer`. Products along a way are made as they come, each once.
    [[nodiscard]] std::int8_t product(std::int8_t outer, std::int8_t inner) const;

    mutable ZoneList list_;     // its rotations grow by products
    std::vector<int> zone_of_;  // [patch]
    bool joined_ = false, turns_ = false;
    mutable std::mutex growing_;
    mutable std::map<std::pair<std::int8_t, std::int8_t>, std::int8_t> products_;
    mutable std::atomic<std::int64_t> looked_at_ = 0;
};

}  // namespace strata::graph
