// Writes one member's values on a grid to an array of a field file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/output/fields.hpp"

namespace strata::graph {

/// VTK's name of an array: cells with a value other than 0 are not drawn.
inline constexpr const char* kGhosts = "vtkGhostType";
inline constexpr std::uint8_t kHidden = 32;  // vtkDataSetAttributes::HIDDENCELL

/// The values that labels have now, for files.
class ValuesNow {
  public:
    explicit ValuesNow(const Simulation& run) : run_(run), kept_(kept_versions(run.plan())) {}

    /// Of labels with values at the same places, on this member's local-th patch: component after component.
    /// Components beyond theirs, up to `components`, are 0.
    void read(const std::vector<LabelId>& labels, int local, int components, std::vector<std::byte>& into);
    /// Of a label that hides cells: kHidden where it is 0, else 0.
    void read_hidden(LabelId blank, int local, std::vector<std::byte>& into);
    [[nodiscard]] const LabelInfo& label(LabelId id) const;
    /// The numbers of this member's patches of a family.
    [[nodiscard]] const std::vector<int>& patches(const Family& family) const;

  private:
    const Simulation& run_;
    std::vector<Kept> kept_;
    std::vector<std::byte> one_;
};

/// An array of values on a grid.
struct GridArray {
    std::string name;             // in the file
    std::vector<LabelId> labels;  // as in ValuesNow::read
    int components = 1;
    Box limits;          // values outside are not written
    bool hides = false;  // the file has kHidden where the label is 0
    int zone = 0;        // whose patches are written
};

/// A row of patches is in memory at once.
void write_grid_array(FieldFile& file, const GridArray& array, const Grid& grid, ValuesNow& now);
/// Marks all cells of a box as not drawn, before patches are written: an array kGhosts.
void hide_all(FieldFile& file, const std::string& array, const Box& cells);
/// Marks the cells of this member's patches as drawn.
void uncover(FieldFile& file, const std::string& array, const Grid& grid, On on,
             const std::vector<int>& patches);

}  // namespace strata::graph
