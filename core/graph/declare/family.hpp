// Families of patches: the units in which a simulation is divided. How many there are and what belongs to
// which depends on the case alone, never on the layout.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

/// Where on a structured patch the values of a label lie. A patch owns the nodes and faces at its lower
/// sides; one at the upper border of a direction that is not periodic owns those there too.
enum class On : std::uint8_t { cells, nodes, faces_x, faces_y, faces_z };

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
    /// Patches that exchange data with this one in most steps; a hint for assigning them. Default: none.
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
    std::array<double, 3> origin{};  // of cell index 0, lower corner, in metres or the case's unit
    std::array<double, 3> spacing{1, 1, 1};
};

/// A structured domain divided into boxes of equal size, numbered x fastest.
class Grid : public Family {
  public:
    /// Throws Error where the shape cannot be: no cells, a patch size below 1.
    Grid(std::string name, const GridShape& shape);
    /// Boxes of any sizes that fill a domain without overlap, e.g. the pencils of a transform, or the fine
    /// patches of a refined region (which need not fill it). Throws Error where boxes overlap.
    Grid(std::string name, const GridShape& shape, std::vector<Box> boxes);

    [[nodiscard]] const GridShape& shape() const { return shape_; }
    /// The cells of a patch.
    [[nodiscard]] const Box& box(int patch) const { return boxes_[static_cast<std::size_t>(patch)]; }
    /// The indices of the values that a patch owns: its cells, or the nodes or faces that are its own, plus
    /// `border` layers beyond the domain at borders that are not periodic.
    [[nodiscard]] Box owned(int patch, On on, const Int3& border = {}) const;
    /// Whether the patch ends at the domain's border, lower (0) or upper (1), in a direction that is not
    /// periodic.
    [[nodiscard]] bool at_border(int patch, int axis, int upper) const;

    /// A patch whose values of kind `on` meet `box` somewhere, and by how much its indices must be shifted
    /// to lie there (across a periodic border; otherwise 0).
    struct Meeting {
        int patch;
        Int3 shift;
        Box box;  // of what is met, in the indices of the asker
    };
    /// All of them, by patch number and then by shift: the owners of the values within a box. Each value has
    /// one owner. Takes time proportional to the answer.
    [[nodiscard]] std::vector<Meeting> owners(const Box& box, On on, const Int3& border = {}) const;

    [[nodiscard]] std::vector<int> order() const override;                // along a Morton curve
    [[nodiscard]] std::vector<int> neighbours(int patch) const override;  // those that share a face

  private:
    GridShape shape_;
    std::vector<Box> boxes_;
    Int3 patches_{};                      // in each direction; zeros where the boxes are irregular
    std::vector<std::vector<int>> bins_;  // irregular boxes by coarse position
};

}  // namespace strata::graph
