// The grid of a case: its zones in the graph, and what holds on their faces.
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/zones.hpp"
#include "methods/curvilinear/grid.hpp"
#include "solvers/flow/boundary/fill.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

/// The grid files or the generator of a case; cut, so that a face has one condition or is joined.
[[nodiscard]] GridSystem case_grid(const Settings& settings, const graph::CaseSchema& keys);

class FlowZones {
  public:
    /// Adds the zones to the graph. Throws Error where a boundary of the grid has no condition in the case,
    /// or a condition has no boundary. `boundaries` must outlive this. `coarser`: how often every second
    /// point was left out, and patches are half as large along each axis.
    FlowZones(graph::Graph& graph, const std::string& name, GridSystem system, int coarser,
              const Settings& settings, const graph::CaseSchema& keys,
              const std::vector<Boundary>& boundaries);

    [[nodiscard]] const graph::Zones& zones() const { return *zones_; }
    [[nodiscard]] const GridSource& source() const { return *system_.source; }
    [[nodiscard]] const GridSystem& system() const { return system_; }
    [[nodiscard]] int dimensions() const { return system_.dimensions; }
    [[nodiscard]] int mesh_of(int zone) const {
        return system_.mesh.empty() ? 0 : system_.mesh[static_cast<std::size_t>(zone)];
    }
    /// How many there are; of a case with one grid 1.
    [[nodiscard]] int meshes() const { return static_cast<int>(motions_.of.size()); }
    [[nodiscard]] const Motions& motions() const { return motions_; }
    /// Whether grids move by themselves.
    [[nodiscard]] bool moves() const { return motions_.some(); }
    /// [2 axis + upper] what holds on the patch's faces; null: joined, or within the zone.
    [[nodiscard]] std::array<const Boundary*, 6> on_patch(int patch) const;
    /// In the order in which they are filled.
    [[nodiscard]] const PatchBoundaries& boundaries(int patch) const {
        return of_patch_[static_cast<std::size_t>(patch)];
    }
    /// Of a frame that turns: how the grid moves, seen at rest.
    [[nodiscard]] const RigidMotion& frame() const { return frame_; }
    /// How a patch moves at the end of a step, with the frame or by itself.
    [[nodiscard]] RigidMotion motion(int patch, std::int64_t step) const {
        return moves() ? motions_.velocity(mesh_of(zones_->zone_of(patch)), step) : frame_;
    }
    /// The axis along which lines of a zone lead away from viscous walls: that of its walls, of a part of a
    /// zone without any that of the other parts', else y.
    [[nodiscard]] int line_axis(int zone) const;
    /// Whether the lower ends of a zone's lines are joined with lower ends of lines, as in a C-grid's wake.
    [[nodiscard]] bool lines_meet(int zone) const { return lines_meet_[static_cast<std::size_t>(zone)]; }
    [[nodiscard]] bool any_lines_meet() const;
    /// Where places beyond a joined face of the zone are seen, of periodic joins.
    struct Shift {
        Box beyond;  // cells of the zone's indices
        Real3 by;
    };
    [[nodiscard]] const std::vector<Shift>& shifts(int zone) const {
        return shifts_[static_cast<std::size_t>(zone)];
    }

  private:
    void note_shift(const JoinRange& join);
    void find_meeting_lines();

    GridSystem system_;
    RigidMotion frame_;
    Motions motions_;
    const graph::Zones* zones_ = nullptr;
    std::vector<std::array<const Boundary*, 6>> on_zone_;
    std::vector<PatchBoundaries> of_patch_;
    std::vector<std::vector<Shift>> shifts_;
    std::vector<bool> lines_meet_;
};

}  // namespace strata::flow
