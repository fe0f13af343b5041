// What a case may not say.
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "solvers/flow/frame.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

using graph::CaseSchema;

namespace {

void check_meshes(const Settings& s, const CaseSchema& keys) {
    if (!s.overlaps()) {
        for (const auto& [name, boundary] : s.boundaries)
            if (boundary.kind == "overset")
                keys.refuse("boundary." + name + ".kind", "a case with one grid has nothing that overlaps",
                            "another kind, or tables [mesh.NAME]");
        return;
    }
    if (s.grid.kind != "file" || !s.grid.file.empty())
        keys.refuse(s.grid.kind != "file" ? "grid.kind" : "grid.file",
                    "a case has one grid, or meshes that overlap", "tables [mesh.NAME] alone");
    if (s.grid.coarsen > 0)
        keys.refuse("grid.coarsen", "each mesh has a key of its own for that", "0, and mesh.NAME.coarsen");
    if (s.grid.turn != 0)
        keys.refuse("grid.turn", "each mesh has a key of its own for that", "0, and mesh.NAME.turn");
    const GridKeys none;
    for (const auto& [key, given] : {std::pair{"patch", s.grid.patch != none.patch},
                                     {"zone", s.grid.zone != none.zone},
                                     {"cells", s.grid.cells != none.cells},
                                     {"shift", s.grid.shift != none.shift}})
        if (given)
            keys.refuse(fmt::format("grid.{}", key), "each mesh has a key of its own for that",
                        fmt::format("mesh.NAME.{}", key));
    if (s.meshes.size() < 2)
        keys.refuse("mesh." + s.meshes.begin()->first + ".kind", "one mesh overlaps no other",
                    "two tables [mesh.NAME] or more, or [grid]");
    for (const auto& [name, mesh] : s.meshes)
        if (!mesh.on.empty() && (mesh.on == name || s.meshes.count(mesh.on) == 0))
            keys.refuse("mesh." + name + ".on", "the case has no other mesh of this name",
                        "the name of another mesh");
    for (const auto& [name, mesh] : s.meshes)
        if (!mesh.on.empty() && mesh.cuts)
            keys.refuse("mesh." + name + ".cuts",
                        "walls that lie on those of another mesh are no closed surface", "false");
    if (s.flow.axisymmetric)
        keys.refuse("flow.axisymmetric", "meshes that overlap are plane, or three-dimensional", "false");
}

/// Of a sector that stands for a whole.
void check_turn(const Settings& s, const GridKeys& g, const CaseSchema& keys) {
    if (g.turn == 0) return;
    if (g.kind != "file" && g.kind != "sector")
        keys.refuse(g.section + ".turn", "only a grid from a file and a sector are periodic by rotation",
                    fmt::format("0, or {}.kind = \"file\" or \"sector\"", keys.spelled(g.section)));
    const double sectors = 360 / std::abs(g.turn);
    if (s.frame.radius > 0 && std::abs(sectors - std::round(sectors)) > 1e-9 * sectors)
        keys.refuse(g.section + ".turn", "a rotor is a whole number of sectors", "360 degrees over a number");
    if (!g.is_part()) return;
    const Real3 far = s.velocity(3);
    for (std::size_t d = 0; d < 3; ++d)
        for (const auto& [name, boundary] : s.boundaries)
            if ((boundary.kind == "far-field" || boundary.kind == "supersonic-inflow") &&
                "xyz"[d] != g.turn_axis[0] && std::abs(far[d]) > 1e-12 * s.flow.mach)
                keys.refuse("flow.alpha",
                            fmt::format("the far field of a sector that is periodic by rotation is not the "
                                        "same in all sectors: it flows across the axis of {}.turn",
                                        keys.spelled(g.section)),
                            "angles at which it flows along the axis");
}

}  // namespace

void check(const Settings& s, const CaseSchema& keys) {
    const auto check_grid = [&](const GridKeys& g) {
        if (g.kind == "file" && g.file.empty())
            keys.refuse(g.section + ".file", "a grid of kind file needs one", "the name of a PLOT3D file");
    };
    if (!s.overlaps()) check_grid(s.grid);
    check_meshes(s, keys);
    for (const auto& [name, mesh] : s.meshes) check_grid(mesh.grid);
    if (!s.steady() && !(s.time.step > 0))
        keys.refuse("time.step", "an unsteady case has a time step", "> 0");
    if (!s.steady() && !(s.time.end > 0)) keys.refuse("time.end", "an unsteady case has an end", "> 0");
    if (!s.steady() && !s.time.sequence.empty())
        keys.refuse("time.sequence", "coarser grids come before a steady flow alone", "[]");
    if (!s.steady() && s.time.multigrid > 1)
        keys.refuse("time.multigrid", "cycles over coarser grids are for steady flow alone", "1");
    if (s.time.smooth[0] == 0)
        keys.refuse("time.smooth", "a coarser grid needs an iteration",
                    "1 or more before those that are coarser");
    for (const auto& [name, range] : {std::pair{"verify.lift", &s.verify.lift},
                                      {"verify.drag", &s.verify.drag},
                                      {"verify.moment", &s.verify.moment},
                                      {"verify.thrust", &s.verify.thrust}})
        if (range->size() == 1 || (range->size() == 2 && (*range)[0] > (*range)[1]))
            keys.refuse(name, "a coefficient has a least and a most value", "[LEAST, MOST]");
    check_frame(s, keys);
    check_turn(s, s.grid, keys);
    for (const auto& [name, mesh] : s.meshes) check_turn(s, mesh.grid, keys);
    check_motions(s, keys);
    if (!s.flow.start.empty() && !s.time.sequence.empty())
        keys.refuse("flow.start", "a flow that begins on coarser grids begins with `initial`",
                    "\"\", or time.sequence = []");
    if (s.verify.error > 0 && (s.flow.initial == "uniform" || s.flow.initial == "blast waves"))
        keys.refuse("verify.error", "no exact solution is known for this case",
                    "0, or flow.initial = \"vortex\" or \"shock tube\"");
    if (s.verify.error > 0 && s.rotation_rate() != 0)
        keys.refuse("verify.error", "exact solutions are those in a frame at rest",
                    "0, or frame.rotation_rate = 0");
}

}  // namespace strata::flow
