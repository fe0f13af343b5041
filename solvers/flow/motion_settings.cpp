// What cases with grids that move may say beside it.
#include "solvers/flow/settings.hpp"

namespace strata::flow {

using graph::CaseSchema;

bool Settings::moves() const {
    if (!overlaps()) return grid.motion.moves();
    for (const auto& [name, mesh] : meshes)
        if (mesh.grid.motion.moves()) return true;
    return false;
}

Motions Settings::motions(int dimensions, const CaseSchema& keys) const {
    Motions all;
    all.step = time.step;
    if (!overlaps()) all.of.emplace_back(grid.motion, grid.section, dimensions, keys);
    for (const auto& [name, mesh] : meshes)
        all.of.emplace_back(mesh.grid.motion, mesh.grid.section, dimensions, keys);
    return all;
}

void check_motions(const Settings& s, const CaseSchema& keys) {
    const auto of_grid = [&](const GridKeys& g) {
        check_motion(g.motion, g.section, g.is_part(), s.steady(), s.flow.axisymmetric, keys);
    };
    if (!s.overlaps()) of_grid(s.grid);
    for (const auto& [name, mesh] : s.meshes) of_grid(mesh.grid);
    if (!s.moves()) return;
    if (s.rotation_rate() != 0)
        keys.refuse("frame.rotation_rate", "grids that move are seen at rest",
                    "0, or grids that stand still in the frame");
    if (s.overlaps() && s.grid.motion.moves())
        keys.refuse("grid.motion.kind", "each mesh has a motion of its own",
                    "\"none\", and mesh.NAME.motion");
    for (const auto& [name, mesh] : s.meshes)
        if (mesh.grid.is_part())
            keys.refuse(mesh.grid.section + ".turn",
                        "meshes that are periodic by rotation stand still, and so do all others of the case",
                        "0, or no mesh that moves");
    for (const auto& [name, mesh] : s.meshes)
        if (!mesh.on.empty() && !(mesh.grid.motion == s.meshes.at(mesh.on).grid.motion))
            keys.refuse("mesh." + name + ".motion.kind", "meshes that lie on one wall move together",
                        "the motion of mesh." + mesh.on);
    if (s.overlaps() && s.output.average >= 0)
        keys.refuse("output.average", "cells that are holes in some steps have no means over all of them",
                    "-1, or [grid] in place of meshes");
}

}  // namespace strata::flow
