// What meshes that overlap do not conserve: fluxes at the edge of the computed cells of one mesh are not
// those of the other one.
//
// In a steady flow nothing changes in any computed cell, so what flows out of all of them through boundaries
// and through edges, where the next cell is interpolated, is nothing. The sum over edges is therefore the
// mass that leaves through the overlap, with the scheme's own fluxes: less than nothing where mass is made
// there.
#pragma once

#include <optional>
#include <span>

#include "solvers/flow/step.hpp"

namespace strata::flow {

/// Numbers of each mesh in OversetLabels::flows.
inline constexpr int kEdgeFlows = 2;  // net out of its computed cells; into them alone

/// Declares the marks of faces at edges, of a stage of steady flow. Other cases have none.
template <int Dim>
void declare_edges(const Step& step);

/// In a task that finds residuals: mass flows through those faces.
class EdgeFlows {
  public:
    EdgeFlows(const Step& step, Task& task);
    template <int Dim>
    void sum(const Here& here, const Patch<Dim>& patch) const;

  private:
    const FlowZones* grid_ = nullptr;  // none: nothing to sum
    Scheme scheme_;
    graph::FieldUse<const std::int32_t> edges_{};
    graph::ScalarsUse<double> flows_{};
};

/// The mass that leaves through edges, over what flows into computed cells there; none: nothing does.
[[nodiscard]] std::optional<double> lost_share(std::span<const double> flows);

}  // namespace strata::flow
