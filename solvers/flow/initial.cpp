#include "solvers/flow/initial.hpp"

namespace strata::flow {

Initial::Initial(const Settings& s, int dimensions)
    : kind_(s.flow.initial == "vortex"        ? Kind::vortex
            : s.flow.initial == "shock tube"  ? Kind::shock_tube
            : s.flow.initial == "blast waves" ? Kind::blast_waves
                                              : Kind::uniform),
      far_(s.far_field(dimensions)),
      tube_({s.initial.left[0], s.initial.left[1], s.initial.left[2]},
            {s.initial.right[0], s.initial.right[1], s.initial.right[2]}, s.flow.gamma),
      place_(s.initial.place) {
    vortex_.gamma = s.flow.gamma;
    vortex_.strength = s.initial.strength;
    vortex_.radius = s.initial.radius;
    vortex_.velocity = far_.u;
    for (std::size_t d = 0; d < s.initial.centre.size(); ++d) vortex_.centre[d] = s.initial.centre[d];
    const auto note_period = [this](const GridKeys& g) {
        for (const std::int64_t axis : g.periodic) {
            const auto d = static_cast<std::size_t>(axis - 1);
            period_[d] = g.high[d] - g.low[d];
        }
    };
    note_period(s.grid);
    for (const auto& [name, mesh] : s.meshes) note_period(mesh.grid);
}

FlowState Initial::at(const Real3& x, double time) const {
    FlowState state = far_;
    if (kind_ == Kind::vortex) {
        const auto [rho, u, v, p] = vortex_.at(x, time, period_);
        state.rho = rho, state.u = {u, v, far_.u[2]}, state.p = p;
    } else if (kind_ == Kind::shock_tube) {
        // At first the states meet; a cell with its centre there is of the right one.
        const double away = x[0] - place_;
        const GasState gas = tube_.at(time > 0 ? away / time : away < 0 ? -1e30 : 1e30);
        state.rho = gas.rho, state.u = {gas.u, 0, 0}, state.p = gas.p;
    } else if (kind_ == Kind::blast_waves) {
        state.rho = 1, state.u = {}, state.p = x[0] < 0.1 ? 1000 : x[0] > 0.9 ? 100 : 0.01;
    }
    return state;
}

}  // namespace strata::flow
