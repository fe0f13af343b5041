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
        check_motion(g.motion, g.section, s.steady(), s.flow.axisymmetric, keys);
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
    const auto check_sectors = [&](const GridKeys& part) {
        if (!part.is_part()) return;
        if (!s.overlaps()) check_motion_of_sectors(s.grid.motion, s.grid.section, part.turn_axis, keys);
        for (const auto& [name, mesh] : s.meshes)
            check_motion_of_sectors(mesh.grid.motion, mesh.grid.section, part.turn_axis, keys);
    };
    if (!s.overlaps()) check_sectors(s.grid);
    for (const auto& [name, mesh] : s.meshes) check_sectors(mesh.grid);
    for (const auto& [name, mesh] : s.meshes)
        if (!mesh.on.empty() && !(mesh.grid.motion == s.meshes.at(mesh.on).grid.motion))
            keys.refuse("mesh." + name + ".motion.kind", "meshes that lie on one wall move together",
                        "the motion of mesh." + mesh.on);
}

}  // namespace strata::flow
