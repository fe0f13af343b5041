#include "solvers/flow/grid_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace strata::flow {

namespace {

using graph::CaseSchema;
using Cells = std::vector<int>;

Generator brick(const GridKeys& g, const Cells& cells, const CaseSchema&) {
    BrickGrid made;
    made.dimensions = static_cast<int>(cells.size());
    for (std::size_t d = 0; d < cells.size(); ++d) made.cells[d] = cells[d];
    made.low = place(g.low, 0), made.high = place(g.high, 1);
    made.wave = g.wave, made.stretch = g.stretch, made.turned = g.turned;
    for (const std::int64_t axis : g.periodic) made.periodic[static_cast<std::size_t>(axis - 1)] = true;
    for (std::size_t d = 0; d < g.zones.size(); ++d) made.parts[d] = static_cast<int>(g.zones[d]);
    return made;
}

Generator tube(const GridKeys& g, const Cells& cells, const CaseSchema&) {
    return TubeGrid{cells[0], cells.size() > 1 ? cells[1] : 1, g.low[0], g.high[0]};
}

Generator plate(const GridKeys& g, const Cells& cells, const CaseSchema&) {
    PlateGrid made = g.own.of<PlateGrid>();
    made.cells_before = cells[0], made.cells_along = cells[1], made.cells_up = cells[2];
    made.first_along = g.first_along;
    if (g.first > 0) made.first = g.first;
    return made;
}

Generator cylinder(const GridKeys& g, const Cells& cells, const CaseSchema&) {
    CylinderGrid made;
    made.cells_around = cells[0], made.cells_out = cells[1];
    if (g.farfield > 0) made.farfield = g.farfield;
    if (g.first > 0) made.first = g.first;
    return made;
}

AirfoilGrid section(const GridKeys& g, const Cells& cells) {
    AirfoilGrid made;
    made.naca = g.naca, made.tail = g.tail;
    made.cells_surface = cells[0], made.cells_wake = cells[1], made.cells_out = cells[2];
    if (g.farfield > 0) made.farfield = g.farfield;
    if (g.first > 0) made.first = g.first;
    made.first_tail = g.first_along;
    made.first_nose = g.first_nose > 0 ? g.first_nose : g.first_along;
    return made;
}

Generator airfoil(const GridKeys& g, const Cells& cells, const CaseSchema&) { return section(g, cells); }

WingGrid sections(const GridKeys& g, const Cells& cells) {
    WingGrid made = g.own.of<WingGrid>();
    made.section = section(g, cells);
    made.cells_span = cells[3];
    if (cells.size() > 4) made.cells_beyond = cells[4];
    made.periodic = !g.periodic.empty();
    made.rotor_axis = g.turn_axis[0] - 'x';
    if (g.beyond > 0) made.beyond = g.beyond;
    if (g.first_tip > 0) made.first_tip = g.first_tip;
    return made;
}

Generator wing(const GridKeys& g, const Cells& cells, const CaseSchema&) { return sections(g, cells); }

/// Its grid ends two chords away or so, among cells of a tenth of a chord or more: those of the wake and
/// beyond its ends grow up to that.
Generator blade(const GridKeys& g, const Cells& cells, const CaseSchema&) {
    WingGrid made = sections(g, cells);
    made.is_blade = true;
    if (!(g.beyond > 0)) made.beyond = 0.5;
    made.section.wake_growth = 1, made.beyond_growth = 6;
    made.section.far_equal = 0.7, made.section.least_farfield = 1.4;
    return made;
}

Generator sector(const GridKeys& g, const Cells& cells, const CaseSchema& keys) {
    SectorGrid made = g.own.of<SectorGrid>();
    made.cells_out = cells[0], made.cells_around = cells[1], made.cells_along = cells[2];
    made.degrees = g.turn, made.axis = g.turn_axis[0] - 'x';
    made.low = g.low[0], made.high = g.high[0];
    if (g.farfield > 0) made.farfield = g.farfield;
    if (g.first > 0) made.first = g.first;
    if (g.core.size() != 3)
        keys.refuse(g.section + ".core", "a sector has a core of equal cells",
                    "three numbers: its radius, and from where to where along the axis");
    made.core = g.core[0], made.core_low = g.core[1], made.core_high = g.core[2];
    return made;
}

constexpr std::array kKinds{
    GridKind{"brick", "a box of equal cells", "along x, y (and z)", 2, 3, brick},
    GridKind{"tube", "a tube along x", "along it", 1, 2, tube},
    GridKind{"plate", "a flat plate", "before, along, up", 3, 3, plate},
    GridKind{"cylinder", "an O-grid around a cylinder", "around, outwards", 2, 2, cylinder},
    GridKind{"airfoil", "a C-grid around a NACA four-digit section",
             "around the section, along the wake, outwards", 3, 3, airfoil},
    GridKind{"wing", "such sections in a row", "and along the span (z), and beyond a tip that is rounded off",
             4, 5, wing},
    GridKind{"blade", "a rotor's blade of them", "the same, beyond each end", 5, 5, blade},
    GridKind{"sector", "a sector of an annulus for it", "outwards, around, along the axis", 3, 3, sector},
};

}  // namespace

std::span<const GridKind> grid_kinds() { return kKinds; }

Generator generator_of(const GridKeys& g, const CaseSchema& keys) {
    const auto kind =
        std::find_if(kKinds.begin(), kKinds.end(), [&](const GridKind& k) { return k.name == g.kind; });
    const std::size_t least = kind->least_cells, most = kind->most_cells;
    if (g.cells.size() < least || g.cells.size() > most)
        keys.refuse(
            g.section + ".cells", fmt::format("a grid of kind {} has other numbers of cells", g.kind),
            least == most ? fmt::format("{} numbers", least) : fmt::format("{} or {} numbers", least, most));
    return kind->generator(g, {g.cells.begin(), g.cells.end()}, keys);
}

}  // namespace strata::flow
