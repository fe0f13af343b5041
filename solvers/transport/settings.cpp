#include "solvers/transport/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/transport/exact.hpp"

namespace strata::transport {

void declare_keys(graph::CaseSchema& keys, Settings& s) {
    keys.key("equation", &s.equation,
             {.choices = {"heat", "advection"},
              .required = true,
              .meaning = "heat: dT/dt = kappa lap T; advection: dT/dt + div(v T) = 0"});
    s.declare_grid(keys, "else the borders are walls without a gradient: insulated, or open to the flow");
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
    s.declare_time(keys, "; more than 1 becomes unstable", {"advection.flow", {"rotation", "vortex"}});
    keys.key(
        "verify.error", &s.error_limit,
        {.unit = "K",
         .least = 0,
         .decides = false,
         .meaning = "largest root-mean-square error against the exact solution at the end; 0: not compared"});
}

graph::CaseSchema schema(Settings& s) {
    graph::CaseSchema keys(kSolver, kSummary);
    declare_keys(keys, s);
    return keys;
}

void check(const Settings& s, const graph::CaseSchema& keys) {
    s.check_grid(keys, 4,
                 {{"advection.velocity", s.velocity.size()},
                  {"profile.waves", s.waves.size()},
                  {"profile.centre", s.centre.size()}});
    if (!s.heat() && s.flow != "uniform" && s.cells.size() != 2)
        keys.refuse("advection.flow", "rotation and vortex are flows in a plane",
                    "grid.cells with 2 entries");
    // The Gaussian at the middle of the cell that is nearest to its own: 0 where no cell sees it.
    double square = 0;
    for (std::size_t d = 0; d < s.directions(); ++d) {
        const double h = s.size[d] / static_cast<double>(s.cells[d]), place = s.centre[d] / h - 0.5;
        const double last = static_cast<double>(s.cells[d] - 1);
        const double nearest = s.periodic ? std::round(place) : std::clamp(std::round(place), 0.0, last);
        square += std::pow((place - nearest) * h, 2);
    }
    if (s.profile == "gaussian" && std::exp(-square / (s.width * s.width)) < 1e-3)
        keys.refuse(
            "profile.centre",
            fmt::format("no cell sees the gaussian: the nearest middle of one is {:.4g} m away, and its "
                        "width is {:.4g} m",
                        std::sqrt(square), s.width),
            "a centre in the domain, and a width of a cell or more (profile.width)");
    if (s.error_limit > 0 && !has_exact(s))
        keys.refuse("verify.error", "no exact solution is known for this case",
                    "0, or: heat with cosines; uniform flow with periodic borders; rotation; vortex");
}

}  // namespace strata::transport
