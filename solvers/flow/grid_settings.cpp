// What cases may say of grids, and of meshes that overlap.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "solvers/flow/grid_kinds.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

using graph::CaseSchema;

namespace {

/// Where the grid comes from: a file, and what is known of it, or a generator.
void add_source_keys(CaseSchema& keys, const std::string& of, GridKeys& g) {
    std::vector<std::string> kinds{"file"}, texts;
    for (const GridKind& kind : grid_kinds()) kinds.emplace_back(kind.name), texts.emplace_back(kind.about);
    keys.key(of + "kind", &g.kind,
             {.choices = std::move(kinds),
              .meaning = fmt::format("a PLOT3D file, or a grid that is made: {}", fmt::join(texts, "; "))});
    keys.key(of + "file", &g.file,
             {.meaning = "PLOT3D, in any form (NAME.xz as well), beside the case file or else in the "
                         "current directory"});
    keys.key(of + "map", &g.map,
             {.meaning = "neutral map file with boundaries and joins; none: joins are found, other faces are "
                         "boundaries ZONE:i-min"});
    keys.key(of + "form", &g.form,
             {.meaning =
                  "what is known of the file's form, such as \"unformatted big-endian single\"; the rest is "
                  "detected"});
    keys.key(of + "dimensions", &g.dimensions,
             {.least = 0,
              .most = 3,
              .meaning = "2: a file with one cell across is a grid in the plane; 0: as the file says"});
    keys.key(of + "coarsen", &g.coarsen,
             {.least = 0, .most = 6, .meaning = "how often every second point of the grid is left out"});
    keys.key(
        of + "shift", &g.shift,
        {.entries = {2, 3}, .meaning = "file: faces that this shift takes onto each other are periodic"});
    keys.key(of + "turn", &g.turn,
             {.unit = "degrees",
              .least = -180,
              .most = 360,
              .meaning = "sector: its angle, at most 180, or 360: all of it; file, three dimensions: faces "
                         "that this turn about an axis "
                         "through the origin takes "
                         "onto each other are periodic, and velocities turn with it; 0: none"});
    keys.key(of + "turn_axis", &g.turn_axis,
             {.choices = {"x", "y", "z"}, .meaning = "file, sector: of `turn`; blade: of the rotor"});
}

/// Cells, how they are divided, and boxes of them.
void add_cell_keys(CaseSchema& keys, const std::string& of, GridKeys& g) {
    keys.key(of + "patch", &g.patch,
             {.least = 1, .most = 1 << 20, .entries = {2, 3}, .meaning = "cells of a patch"});
    keys.key(
        of + "zone", &g.zone,
        {.least = 8,
         .most = 1 << 20,
         .entries = {0, 3},
         .meaning = "cells of a zone along each axis, at most: longer ones are cut into equal parts, over "
                    "which sweeps and lines are shorter"});
    std::string cells;
    for (const GridKind& kind : grid_kinds())
        cells += fmt::format("{}{}: {}", cells.empty() ? "" : "; ", kind.name, kind.cells);
    keys.key(of + "cells", &g.cells,
             {.least = 1, .most = 1 << 20, .entries = {1, 5}, .meaning = std::move(cells)});
    keys.key(of + "zones", &g.zones,
             {.least = 1, .most = 64, .entries = {2, 3}, .meaning = "brick: in each direction"});
    keys.key(of + "turned", &g.turned, {.meaning = "brick: axes of each second zone lie otherwise"});
    keys.key(of + "low", &g.low,
             {.entries = {1, 3}, .meaning = "brick, tube, sector: lower corner, or end along the axis"});
    keys.key(of + "high", &g.high, {.entries = {1, 3}, .meaning = "the same: upper corner, or end"});
    keys.key(of + "wave", &g.wave,
             {.least = 0, .most = 0.08, .meaning = "brick: by which share of its extent inner nodes move"});
    keys.key(of + "stretch", &g.stretch,
             {.least = 0,
              .most = 12,
              .meaning = "brick: nodes lie along sinh(stretch t), t from -1 to 1, closest in the middle"});
    keys.key(
        of + "periodic", &g.periodic,
        {.least = 1, .most = 3, .entries = {0, 3}, .meaning = "brick: axes, from 1 on; wing: [3], in span"});
}

/// Cells at walls; cylinders, plates and sections.
void add_wall_keys(CaseSchema& keys, const std::string& of, GridKeys& g) {
    keys.key(of + "first", &g.first,
             {.least = 0,
              .meaning = "height of the first cell at the wall; sector: length of cells in its core; 0: that "
                         "of the generator"});
    keys.key(of + "first_along", &g.first_along,
             {.least = 0,
              .above_least = true,
              .meaning = "plate, airfoil: length of cells at the leading and trailing edge"});
    keys.key(of + "first_nose", &g.first_nose,
             {.least = 0, .meaning = "airfoil: length of cells at the leading edge; 0: first_along"});
    keys.key(of + "farfield", &g.farfield,
             {.least = 0,
              .meaning = "cylinder, airfoil: its distance; sector: its radius; 0: that of the generator"});
    keys.key(of + "length", &g.own.of<PlateGrid>().length,
             {.least = 0, .above_least = true, .meaning = "plate"});
    keys.key(of + "height", &g.own.of<PlateGrid>().height,
             {.least = 0, .above_least = true, .meaning = "plate: of the domain"});
    keys.key(of + "before", &g.own.of<PlateGrid>().before,
             {.least = 0, .above_least = true, .meaning = "plate: length of the symmetry line before it"});
    keys.key(of + "naca", &g.naca, {.meaning = "airfoil, wing: four digits"});
    keys.key(of + "tail", &g.tail,
             {.choices = {"scaled", "sharp", "blunt"}, .meaning = "airfoil: its trailing edge"});
}

/// Wings.
void add_wing_keys(CaseSchema& keys, const std::string& of, GridKeys& g) {
    keys.key(of + "span", &g.own.of<WingGrid>().span,
             {.least = 0, .above_least = true, .meaning = "wing, in chords"});
    keys.key(of + "taper", &g.own.of<WingGrid>().taper,
             {.least = 0, .above_least = true, .meaning = "wing: chord at the tip"});
    keys.key(of + "sweep", &g.own.of<WingGrid>().sweep,
             {.unit = "degrees", .least = -80, .most = 80, .meaning = "wing"});
    keys.key(of + "twist", &g.own.of<WingGrid>().twist,
             {.unit = "degrees", .least = -90, .most = 90, .meaning = "wing"});
}

/// Tips; blades and the sector around them.
void add_rotor_keys(CaseSchema& keys, const std::string& of, GridKeys& g) {
    keys.key(of + "beyond", &g.beyond,
             {.least = 0, .meaning = "wing, blade: how far the grid goes on beyond the tip; 0: 50, or 0.5"});
    keys.key(of + "first_tip", &g.first_tip,
             {.least = 0, .meaning = "the same: length of cells along the span at the tip; 0: 0.02"});
    keys.key(of + "root", &g.own.of<WingGrid>().root,
             {.least = 0, .above_least = true, .meaning = "blade: radius at which it begins, in chords"});
    keys.key(
        of + "pitch", &g.own.of<WingGrid>().pitch,
        {.unit = "degrees", .least = -90, .most = 90, .meaning = "blade: nose up, about the quarter line"});
    keys.key(of + "azimuth", &g.own.of<WingGrid>().azimuth,
             {.unit = "degrees",
              .least = -360,
              .most = 360,
              .meaning = "blade: where it lies, about turn_axis, right-handed, from the axis after it"});
    keys.key(of + "core", &g.core,
             {.entries = {0, 3},
              .meaning = "sector: up to which radius, and from where to where along the axis, cells are "
                         "`first` long"});
    keys.key(of + "hub", &g.own.of<SectorGrid>().hub,
             {.least = 0, .above_least = true, .meaning = "sector: its inner radius"});
}

}  // namespace

void add_grid_keys(CaseSchema& keys, GridKeys& g) {
    const std::string of = g.section + '.';
    add_source_keys(keys, of, g);
    add_cell_keys(keys, of, g);
    add_wall_keys(keys, of, g);
    add_wing_keys(keys, of, g);
    add_motion_keys(keys, g.section, g.motion);
    add_rotor_keys(keys, of, g);
    for (const GridKind& kind : grid_kinds())
        if (kind.add_keys != nullptr) kind.add_keys(keys, of, g.own);
}

void add_mesh_keys(CaseSchema& keys, const std::string& name, MeshKeys& mesh) {
    mesh.grid.section = "mesh." + name;
    add_grid_keys(keys, mesh.grid);
    keys.key(mesh.grid.section + ".cuts", &mesh.cuts,
             {.meaning = "whether its walls, a closed surface, cut holes into other meshes"});
    keys.key(mesh.grid.section + ".on", &mesh.on,
             {.meaning = "the mesh on whose walls its own lie, as a cap's on a wing; none: \"\""});
}

}  // namespace strata::flow
