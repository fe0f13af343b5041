// Families of patches: the units into which a simulation is divided. The number of patches and what each
// contains depend on the case alone, never on the layout.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

/// The position of a label's values on a structured patch. A patch owns the nodes and faces at its lower
/// sides. At the upper border of a direction that is not periodic, the last patch owns those at its upper
/// side too. Example: 8 cells in two patches of 4 have nodes 0 to 8; the first patch owns 0 to 3, the second
/// 4 to 8.
enum class On : std::uint8_t { cells, nodes, faces_x, faces_y, faces_z };

/// Whether the values lie on the sides of cells along the axis, so that n cells have n + 1 of them.
[[nodiscard]] constexpr bool on_sides(On on, std::size_t axis) {
    return on == On::nodes || (on == On::faces_x && axis == 0) || (on == On::faces_y && axis == 1) ||
           (on == On::faces_z && axis == 2);
}

/// Patches of one kind. Subdomains of elements and zones are plain families: each label on them says how many
/// values it has on each patch.
class Family {
  public:
    Family(std::string name, int patches) : name_(std::move(name)), patches_(patches) {}
    virtual ~Family() = default;
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] int patches() const { return patches_; }
    /// All patches in an order that puts neighbours near each other; processes get consecutive runs of it.
    /// Default: by number.
    [[nodiscard]] virtual std::vector<int> order() const;
    /// Patches that exchange data with this one in most steps. Flags that such a neighbour in another thread
    /// reads get cache lines apart from those that only the own thread reads. Default: none.
    [[nodiscard]] virtual std::vector<int> neighbours(int patch) const;

  private:
    friend class Graph;  // which gives those of a part of it the part's name
    std::string name_;
    int patches_;
};

/// The domain of a structured family, and its division into patches.
struct GridShape {
    Box cells;           // the whole domain (extent 1 in directions that are not there)
    Int3 patch_cells{};  // of each patch; the last one of a direction may be smaller
    std::array<bool, 3> periodic{};
    Real3 origin{};  // of cell index 0, lower corner, in metres or the case's unit
    Real3 spacing{1, 1, 1};
    friend bool operator==(const GridShape&, const GridShape&) = default;
};

/// A structured domain divided into boxes: either of equal size and numbered x fastest, or any boxes that do
/// not overlap.
class Grid : public Family {
  public:
    /// Boxes of shape.patch_cells. Throws Error where the shape cannot be: no cells, a patch size below 1, a
    /// spacing that is not positive, indices beyond 2^30 (so that shifted and refined ones fit an int).
    Grid(std::string name, const GridShape& shape);
    /// Boxes of any sizes, e.g. the pencils of a transform, or the fine patches of a refined region (which
    /// need not fill the domain); shape.patch_cells does not matter. Throws Error where boxes overlap, are
    /// empty or lie outside the domain.
    Grid(std::string name, const GridShape& shape, std::vector<Box> boxes);

    /// Of several zones: a box around the indices of all.
    [[nodiscard]] const GridShape& shape() const { return shape_; }
    /// The cells of the whole domain; of several zones: of all.
    [[nodiscard]] virtual std::int64_t all_cells() const { return shape_.cells.volume(); }
    /// The cells of a patch.
    [[nodiscard]] virtual Box box(int patch) const;
    /// Where a value lies, by the shape's origin and spacing: the centre of a cell or face, or a node.
    [[nodiscard]] Real3 place(const Int3& at, On on = On::cells) const {
        Real3 x;
        for (std::size_t a = 0; a < 3; ++a)
            x[a] = shape_.origin[a] + (at[a] + (on_sides(on, a) ? 0.0 : 0.5)) * shape_.spacing[a];
        return x;
    }
    /// The cell in which a particle lies, as relocations find it: a quotient by the spacing may round to the
    /// next one, which is another patch's.
    [[nodiscard]] Int3 cell_at(const Real3& x) const {
        Int3 at;
        for (std::size_t a = 0; a < 3; ++a)
            at[a] = static_cast<int>(std::floor((x[a] - shape_.origin[a]) * (1 / shape_.spacing[a])));
        return at;
    }
    /// The indices of the values that a patch owns: its cells, or its nodes or faces, and `border` layers
    /// beyond the domain at borders that are not periodic. Irregular boxes may leave a gap inside the domain;
    /// nodes and faces at the upper side of a box beside a gap have no owner, and a task makes its values
    /// there as a list.
    [[nodiscard]] Box owned(int patch, On on, const Int3& border = {}) const {
        return owned_in(zone_of(patch), box(patch), on, border);
    }
    /// The same for a box of cells that patches fill: the values that they own together.
    [[nodiscard]] Box owned_by(const Box& cells, On on, const Int3& border = {}) const {
        return owned_in(0, cells, on, border);
    }
    /// All indices that have values: the whole domain and its border, and +-2^30 along periodic directions.
    [[nodiscard]] Box extent(On on, const Int3& border = {}) const { return extent_in(0, on, border); }
    /// Whether the patch ends at the domain's border, lower (0) or upper (1), in a direction that is not
    /// periodic.
    [[nodiscard]] virtual bool at_border(int patch, int axis, int upper) const;
    /// Whether a direction is not there: one cell, and nothing beyond it. There are no ghosts along it.
    [[nodiscard]] virtual bool is_flat(int axis) const;
    /// The most cells that a patch has along an axis. Takes time proportional to the number of irregular
    /// boxes.
    [[nodiscard]] virtual int widest(int axis) const;
    /// Whether all boxes have one size (the first constructor), and their number in each direction (else 0).
    [[nodiscard]] bool regular() const { return boxes_.empty() && counts_[0] > 0; }
    [[nodiscard]] const Int3& counts() const { return counts_; }

    /// A patch that owns values in a box. `shift` is added to the patch's indices to get those of the box; it
    /// is 0 but across a periodic border. Example: 100 cells, periodic; the box -2 .. 0 belongs to the last
    /// patch with shift -100. Across a joined face of zones the axes may be others as well (IndexMap).
    struct Meeting {
        int patch;
        Int3 shift;
        Box box;  // the part of the asked box that the patch owns, in the box's indices
        Axes axes = kSameAxes;
        friend bool operator==(const Meeting&, const Meeting&) = default;
    };
    /// The owners of the values within a box, by patch number and then by shift. Each value has one owner.
    /// The box may span any number of patches and periods. Takes time proportional to the answer (irregular
    /// boxes: and to the number of bins of a mean patch's size within the box).
    [[nodiscard]] std::vector<Meeting> owners(const Box& box, On on, const Int3& border = {}) const;
    /// The same into a vector whose memory is used again.
    void find_owners(const Box& box, On on, const Int3& border, std::vector<Meeting>& found) const {
        find_owners_in(0, box, on, border, found);
    }

    // Several zones (zones.hpp), each with indices of its own; a plain grid is zone 0 alone. What is said
    // above of a box is true of zone 0.
    [[nodiscard]] virtual int zones() const { return 1; }
    [[nodiscard]] virtual int zone_of(int /*patch*/) const { return 0; }
    /// The cells of a zone.
    [[nodiscard]] virtual const Box& cells(int /*zone*/) const { return shape_.cells; }
    [[nodiscard]] virtual Box owned_in(int zone, const Box& cells, On on, const Int3& border) const;
    /// All that a zone has, joined faces being its end.
    [[nodiscard]] Box whole(int zone, On on, const Int3& border) const {
        return owned_in(zone, cells(zone), on, border);
    }
    [[nodiscard]] virtual Box extent_in(int zone, On on, const Int3& border) const;
    virtual void find_owners_in(int zone, const Box& box, On on, const Int3& border,
                                std::vector<Meeting>& found) const;
    /// Whether zones have joined faces.
    [[nodiscard]] virtual bool joined() const { return false; }
    /// The rotation of vectors with this number (Axes); number 0 is none.
    [[nodiscard]] virtual const Rotation& rotation(int /*number*/) const { return kNoRotation; }
    /// Whether vectors are turned across some joined face.
    [[nodiscard]] virtual bool turns() const { return false; }
    /// The parts of a box within extent_in() that nobody owns because no joined face leads to an owner. Of
    /// one zone: none (what irregular boxes leave out is not told).
    [[nodiscard]] virtual std::vector<Box> missing_in(int /*zone*/, const Box& /*box*/, On,
                                                      const Int3& /*border*/) const {
        return {};
    }

    /// Along a Morton curve (Morton 1966: the bits of x, y and z interleaved) through the patches' positions.
    /// Any counts: each direction uses the bits it has.
    [[nodiscard]] std::vector<int> order() const override;
    /// The patches that share a face with this one, also through periodic borders, ascending.
    [[nodiscard]] std::vector<int> neighbours(int patch) const override;

  protected:
    /// For several zones.
    Grid(std::string name, int patches, const Box& around) : Family(std::move(name), patches) {
        shape_.cells = around;
    }

  private:
    struct Bins {
        Int3 size{1, 1, 1}, counts{1, 1, 1};
        std::vector<std::int32_t> first, patches;  // of bin b: patches[first[b]] .. patches[first[b + 1]]
    };
    void check_shape() const;
    void make_bins();
    void check_apart() const;
    [[nodiscard]] Box bins_of(const Box& values) const;
    void find_regular(const Box& box, On on, const Int3& border, std::vector<Meeting>& found) const;
    void find_irregular(const Box& box, On on, const Int3& border, std::vector<Meeting>& found) const;

    GridShape shape_;
    Int3 counts_{};           // regular: patches in each direction
    std::vector<Box> boxes_;  // irregular
    Bins bins_;               // irregular boxes by coarse position
};

}  // namespace strata::graph
