#include "solvers/transport/settings.hpp"

#include "solvers/transport/exact.hpp"

namespace strata::transport {

graph::CaseSchema schema(Settings& s) {
    graph::CaseSchema keys("transport",
                           "Heat conduction and linear advection on a structured grid, second order.");
    keys.key("equation", &s.equation,
             {.choices = {"heat", "advection"},
              .required = true,
              .meaning = "heat: dT/dt = kappa lap T; advection: dT/dt + div(v T) = 0"});
    keys.key("grid.cells", &s.cells,
             {.least = 1,
              .most = 1 << 20,
              .entries = {2, 3},
              .required = true,
              .meaning = "in each direction; two or three directions"});
    keys.key("grid.patch", &s.patch_cells,
             {.least = 2,
              .most = 1 << 20,
              .entries = {2, 3},
              .meaning = "cells of a patch, in each direction; all that the grid has, where it has fewer"});
    keys.key("grid.size", &s.size,
             {.unit = "m", .least = 0, .above_least = true, .entries = {2, 3}, .meaning = "of the domain"});
    keys.key("grid.periodic", &s.periodic,
             {.meaning = "else the borders are walls without a gradient: insulated, or open to the flow"});
    keys.key("heat.diffusivity", &s.diffusivity,
             {.unit = "m2/s", .least = 0, .above_least = true, .meaning = "kappa"});
    keys.key(
        "advection.flow", &s.flow,
        {.choices = {"uniform", "rotation", "vortex"},
         .meaning =
             "uniform: `velocity`; rotation: once about the centre until time.end; vortex: stretched and "
             "back until time.end (LeVeque 1996)"});
    keys.key("advection.velocity", &s.velocity,
             {.unit = "m/s", .least = -1e9, .most = 1e9, .entries = {2, 3}, .meaning = "of a uniform flow"});
    keys.key("profile.kind", &s.profile,
             {.choices = {"cosines", "gaussian"},
              .meaning = "at first: background + product of cosines, or + exp(-r2/width2)"});
    keys.key("profile.waves", &s.waves,
             {.least = 0,
              .most = 1000,
              .entries = {2, 3},
              .meaning = "cosines: whole waves (between walls half waves) in each direction"});
    keys.key("profile.centre", &s.centre, {.unit = "m", .entries = {2, 3}, .meaning = "of the gaussian"});
    keys.key("profile.width", &s.width,
             {.unit = "m", .least = 0, .above_least = true, .meaning = "of the gaussian"});
    keys.key("profile.background", &s.background, {.unit = "K", .meaning = "what the profile is added to"});
    keys.key(
        "time.end", &s.end,
        {.unit = "s", .least = 0, .above_least = true, .required = true, .meaning = "when the run ends"});
    keys.key("time.cfl", &s.cfl,
             {.least = 0,
              .most = 4,
              .above_least = true,
              .meaning = "step as a share of the largest stable one; more than 1 becomes unstable"});
    keys.key(
        "verify.error", &s.error_limit,
        {.unit = "K",
         .least = 0,
         .decides = false,
         .meaning = "largest root-mean-square error against the exact solution at the end; 0: not compared"});
    return keys;
}

graph::GridShape Settings::shape() const {
    graph::GridShape shape;
    shape.cells.hi = {1, 1, 1};
    shape.patch_cells = {1, 1, 1};
    for (std::size_t d = 0; d < cells.size(); ++d) {
        shape.cells.hi[d] = static_cast<int>(cells[d]);
        shape.patch_cells[d] = static_cast<int>(patch_cells[d]);
        shape.periodic[d] = periodic;
        shape.spacing[d] = size[d] / static_cast<double>(cells[d]);
    }
    return shape;
}

void check(const Settings& s, const graph::CaseSchema& keys) {
    const auto long_enough = [&](const char* key, std::size_t entries) {
        if (entries < s.cells.size())
            keys.refuse(key, "an entry for each direction of the grid is needed",
                        std::to_string(s.cells.size()) + " entries, as grid.cells has");
    };
    long_enough("grid.patch", s.patch_cells.size());
    long_enough("grid.size", s.size.size());
    long_enough("advection.velocity", s.velocity.size());
    long_enough("profile.waves", s.waves.size());
    long_enough("profile.centre", s.centre.size());
    for (std::size_t d = 0; d < s.cells.size(); ++d)
        if (s.cells[d] < 4)
            keys.refuse("grid.cells", "a direction needs four cells for second order", ">= 4 in each");
    if (!s.heat() && s.flow != "uniform" && s.cells.size() != 2)
        keys.refuse("advection.flow", "rotation and vortex are flows in a plane",
                    "grid.cells with 2 entries");
    if (s.error_limit > 0 && !has_exact(s))
        keys.refuse("verify.error", "no exact solution is known for this case",
                    "0, or: heat with cosines; uniform flow with periodic borders; rotation; vortex");
}

}  // namespace strata::transport
