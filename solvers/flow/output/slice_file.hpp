// Cuts as files that ParaView opens: VTK's polygonal data (.vtp), with its arrays as bytes behind the header.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/team/team.hpp"
#include "solvers/flow/output/slices.hpp"

namespace strata::flow {

/// What a process has of a cut: its patches', with the cells' zones.
struct PatchSurface {
    int patch = 0;
    SliceSurface surface = {};
    /// Zone, i, j, k of each polygon's cell in the grid as given, from 1.
    std::vector<std::array<std::int32_t, 4>> cells = {};
};

/// Writes PATH, whole or not at all: of `patches` patches in their order, points with density, velocity and
/// pressure, with `vortices` vorticity and Q, too; lines (dimensions 2) or polygons with zone and cell; the
/// time. Each process writes what its patches have to its place. Throws Error where the file cannot be
/// written. Collective.
void write_slice(team::Team& team, const std::filesystem::path& path, const std::vector<PatchSurface>& mine,
                 int patches, int dimensions, bool vortices, double time);

}  // namespace strata::flow
