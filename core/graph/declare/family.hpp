// Families of patches: the units in which a simulation is divided. How many there are and what belongs to
// which depends on the case alone, never on the layout.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

/// Where on a structured patch the values of a label lie. A patch owns the nodes and faces at its lower
/// sides; one at the upper border of a direction that is not periodic owns those there too.
enum class On : std::uint8_t { cells, nodes, faces_x, faces_y, faces_z };

/// Whether such values lie on the lower and the upper side of a cell along the axis, so that n cells have
/// n + 1 of them.
[[nodiscard]] constexpr bool on_sides(On on, std::size_t axis) {
    return on == On::nodes || (on == On::faces_x && axis == 0) || (on == On::faces_y && axis == 1) ||
           (on == On::faces_z && axis == 2);
}

/// Patches of one kind. Subdomains of elements, zones and the like are plain families: how many values a
/// label has on each of their patches is said where the label is declared.
class Family {
  public:
    Family(std::string name, int patches) : name_(std::move(name)), patches_(patches) {}
    virtual ~Family() = default;
    Family(const Family&) = delete;
    Family& operator=(const Family&) = delete;

    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] int patches() const { return patches_; }
    /// Patches in an order in which neighbours are near each other, for assigning them to processes
    /// (default: by number).
    [[nodiscard]] virtual std::vector<int> order() const;
    /// Patches that exchange data with this one in most steps. Where one of them is another thread's, others
    /// look at this patch's flags, which then lie apart from flags that nobody else reads. Default: none.
    [[nodiscard]] virtual std::vector<int> neighbours(int patch) const;

  private:
    std::string name_;
    int patches_;
};

/// What a structured family covers.
struct GridShape {
    Box cells;                       // the whole domain (extent 1 in directions that are not there)
    Int3 patch_cells{};              // of each patch; the last one of a direction may be smaller
    std::array<bool, 3> periodic{};  //
    Real3 origin{};                  // of cell index 0, lower corner, in metres or the case's unit
    Real3 spacing{1, 1, 1};
};

/// A structured domain divided into boxes: of equal size and numbered x fastest, or any that do not overlap.
class Grid : public Family {
  public:
    /// Boxes of shape.patch_cells. Throws Error where the shape cannot be: no cells, a patch size below 1, a
    /// spacing that is not positive, indices beyond 2^30 (so that shifted and refined ones fit an int).
    Grid(std::string name, const GridShape& shape);
    /// Boxes of any sizes, e.g. the pencils of a transform, or the fine patches of a refined region (which
    /// need not fill the domain); shape.patch_cells does not matter. Throws Error where boxes overlap, are
    /// empty or lie outside the domain.
    Grid(std::string name, const GridShape& shape, std::vector<Box> boxes);

    [[nodiscard]] const GridShape& shape() const { return shape_; }
    /// The cells of a patch.
    [[nodiscard]] Box box(int patch) const;
    /// The indices of the values that a patch owns: its cells, or the nodes or faces that are its own, plus
    /// `border` layers beyond the domain at borders that are not periodic. Where no patch lies beyond an
    /// upper side within the domain, the nodes and faces there are nobody's: what a task computes on them it
    /// makes as a list.
    [[nodiscard]] Box owned(int patch, On on, const Int3& border = {}) const {
        return owned_by(box(patch), on, border);
    }
    /// The same for a box of cells that patches fill: the values that they own together.
    [[nodiscard]] Box owned_by(const Box& cells, On on, const Int3& border = {}) const;
    /// The indices at which values are: the whole domain and its border; without end (+-2^30) along periodic
    /// directions.
    [[nodiscard]] Box extent(On on, const Int3& border = {}) const;
    /// Whether the patch ends at the domain's border, lower (0) or upper (1), in a direction that is not
    /// periodic.
    [[nodiscard]] bool at_border(int patch, int axis, int upper) const;
    /// The patch with the fewest cells along an axis, the first of them: no ghosts may be wider than it.
    /// Takes time proportional to the number of irregular boxes.
    [[nodiscard]] int narrowest(int axis) const;
    /// Whether all boxes have one size (the first constructor), and how many there are in each direction
    /// (zeros otherwise).
    [[nodiscard]] bool regular() const { return boxes_.empty(); }
    [[nodiscard]] const Int3& counts() const { return counts_; }

    /// A patch whose values of kind `on` meet `box` somewhere, and by how much its indices must be shifted
    /// to lie there (across a periodic border; otherwise 0).
    struct Meeting {
        int patch;
        Int3 shift;
        Box box;  // of what is met, in the indices of the asker
        friend bool operator==(const Meeting&, const Meeting&) = default;
    };
    /// All of them, by patch number and then by shift: the owners of the values within a box. Each value has
    /// one owner. The box may reach any number of patches and of periods far. Takes time proportional to the
    /// answer (irregular boxes: and to the number of bins of a mean patch's size that the box meets).
    [[nodiscard]] std::vector<Meeting> owners(const Box& box, On on, const Int3& border = {}) const;
    /// The same into a vector whose memory is used again.
    void find_owners(const Box& box, On on, const Int3& border, std::vector<Meeting>& found) const;

    /// Along a Morton curve (Morton 1966: the bits of x, y and z interleaved) through the patches' places;
    /// any counts, each direction uses the bits it has.
    [[nodiscard]] std::vector<int> order() const override;
    /// Those that share a face, also through periodic borders, ascending; not the patch itself.
    [[nodiscard]] std::vector<int> neighbours(int patch) const override;

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
