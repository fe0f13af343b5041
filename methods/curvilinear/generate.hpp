// Grids made from a few numbers: for each kind a struct and a function grid_of(), and its place in Generator.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <variant>

#include "core/graph/declare/box.hpp"

namespace strata::flow {

using graph::Int3;
using graph::Real3;

struct GridSystem;  // grid.hpp

/// A box of cells, equal or smaller in the middle, its inner nodes moved by waves; boundaries "x-min" to
/// "z-max", or joined (periodic).
struct BrickGrid {
    int dimensions = 2;
    Int3 cells{16, 16, 1};
    Real3 low{0, 0, 0}, high{1, 1, 1};
    /// Inner nodes move by this share of the extent along sines, below 0.08. Waves vanish on the sides.
    double wave = 0;
    /// Nodes lie along sinh(stretch t), t from -1 to 1: cells at the ends are cosh(stretch) times as long as
    /// in the middle. 0: equal ones.
    double stretch = 0;
    std::array<bool, 3> periodic{};
    /// Cut into that many zones along each axis; with `turned` the axes of each second one lie otherwise (a
    /// rotation of its indices), so that joins connect different axes in both directions.
    Int3 parts{1, 1, 1};
    bool turned = false;
};
[[nodiscard]] GridSystem grid_of(const BrickGrid& grid);

/// A tube along x with ends "left" and "right", walls "side" around it. One cell wide across.
struct TubeGrid {
    int cells = 200, cells_across = 1;
    double low = 0, high = 1;
};
[[nodiscard]] GridSystem grid_of(const TubeGrid& grid);

/// A plate from x = 0 to `length` on the lower side ("wall"), "symmetry" before it, "inflow", "outflow",
/// "top". Cells shrink towards the leading edge and the wall.
struct PlateGrid {
    int cells_before = 12, cells_along = 56, cells_up = 48;
    double before = 1.0 / 3, length = 2, height = 1;
    double first = 5e-6;        // height of the first cell
    double first_along = 2e-3;  // length of the cells at the leading edge
};
[[nodiscard]] GridSystem grid_of(const PlateGrid& grid);

/// An O-grid around a circular cylinder at the origin: "wall", "farfield", joined with itself behind.
struct CylinderGrid {
    int cells_around = 96, cells_out = 64;
    double radius = 0.5, farfield = 50, first = 0.01;
};
[[nodiscard]] GridSystem grid_of(const CylinderGrid& grid);

/// A C-grid around a NACA four-digit section of chord 1 from (0, 0) to (1, 0): i from the lower end of the
/// wake along the lower side to the nose and back above, j outwards. "wall", "farfield", "outflow"; the wake
/// is joined with itself. Lines leave the section along its normals and bend into the confocal parabolas that
/// a slit has, out to a half circle and two straight lines behind it.
struct AirfoilGrid {
    std::string naca = "0012";
    int cells_surface = 128;  // around the section, even
    int cells_wake = 48;      // along each side of the wake cut
    int cells_out = 64;
    double farfield = 500;  // from the trailing edge, in chords
    double least_farfield = 2;
    double first = 4e-6;       // height of the first cell
    double wake_growth = 100;  // the wake's first cells, d chords behind, are 1 + wake_growth d times as high
    double first_nose = 0.002, first_tail = 0.002;  // lengths of surface cells at the nose and trailing edge
    /// Lines end at the far boundary as parabolas do (0), as far from each other (1), or between: parabolas
    /// carry the short cells at the trailing edge out to a near boundary.
    double far_equal = 0;
    /// Trailing edge. blunt: the polynomial as it was published, open; sharp: the same with -0.1036 x^4,
    /// which closes; scaled: the open one up to x = 1.008930411365, where it closes, scaled back to a chord
    /// of 1 (as NASA's Turbulence Modeling Resource has it).
    std::string tail = "scaled";
    int cells_base = 24;  // of a blunt one: a second zone behind the base, "wall" there
};
[[nodiscard]] GridSystem grid_of(const AirfoilGrid& grid);

/// A wing: an AirfoilGrid (not blunt) stacked along z from the plane "root" at z = 0, chord, sweep and twist
/// linear in z. Without `cells_beyond` it ends in the plane "tip"; with them it is rounded off, and a slit
/// goes on from it, joined with itself.
struct WingGrid {
    AirfoilGrid section{};
    int cells_span = 16, cells_beyond = 0, cells_round = 4;
    double span = 3, beyond = 50;            // in chords of the root
    double first_tip = 0.02;                 // length along z of the cells at a tip that is rounded off
    double taper = 1, sweep = 0, twist = 0;  // degrees; sweep of the quarter line, twist about it, nose up
    bool periodic =
        false;  // root and tip are joined: a wing without ends, that is not tapered, swept or twisted
    /// Of a rotor: rounded off at both ends, with `cells_beyond` at each. It begins at the radius `root`, its
    /// quarter line lies along the axis after the rotor's and up is along the rotor's.
    bool is_blade = false;
    double root = 1, pitch = 0;  // degrees, nose up, about the quarter line
    int rotor_axis = 2;
    double azimuth = 0;  // degrees about the rotor's axis, right-handed, from that direction
    /// Cells around the slit, d chords beyond an end, are 1 + beyond_growth d times as high and as long at
    /// nose and tail, at most equally long: the grid ends in another one whose cells are large.
    double beyond_growth = 0;
};
[[nodiscard]] GridSystem grid_of(const WingGrid& grid);

/// A part of an annulus around an axis, joined with itself by a turn, or all of it: i outwards from "hub" to
/// "farfield", j around, k along the axis from "below" to "above". Cells are equally long from the hub to
/// `core` and between `core_low` and `core_high`, and grow from there to the far field.
struct SectorGrid {
    int cells_out = 48, cells_around = 48, cells_along = 48;
    double degrees = 180;  // the middle lies along the axis after `axis`
    int axis = 2;
    double hub = 0.25, farfield = 24;  // radii
    double low = -24, high = 24;       // along the axis
    double core = 7, core_low = -2, core_high = 1, first = 0.2;
};
[[nodiscard]] GridSystem grid_of(const SectorGrid& grid);

using Generator =
    std::variant<BrickGrid, TubeGrid, PlateGrid, CylinderGrid, AirfoilGrid, WingGrid, SectorGrid>;

/// The numbers of each kind beside each other, for cases, whose keys are there before their kind is known.
template <class Kinds>
struct OneOfEach;
template <class... Kind>
struct OneOfEach<std::variant<Kind...>> {
    std::tuple<Kind...> all;
    template <class One>
    [[nodiscard]] One& of() {
        return std::get<One>(all);
    }
    template <class One>
    [[nodiscard]] const One& of() const {
        return std::get<One>(all);
    }
};
using GeneratorNumbers = OneOfEach<Generator>;

/// The grid of one or several zones, joined, not cut. Throws Error naming the key for numbers that give no
/// grid. So does grid_of(), which is for one kind.
[[nodiscard]] GridSystem generate(const Generator& generator);

}  // namespace strata::flow
