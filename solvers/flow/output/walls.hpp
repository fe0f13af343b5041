// What the flow does to walls: pressure, friction and y+ of a wall face, and their sums.
#pragma once

#include <array>
#include <functional>

#include "solvers/flow/boundary/fill.hpp"
#include "solvers/flow/output/reference.hpp"
#include "solvers/flow/scheme/options.hpp"

namespace strata::flow {

/// A wall face.
///
/// Pressure is extrapolated from the first cell to the face's centre, along the gradient between that cell,
/// the second one and the neighbours along the wall: exact for a linear pressure on any grid. Where that is
/// no positive pressure, or cells are collapsed, it is that of the first cell. Temperature is the mean of the
/// first cell and its image. Friction is that of the velocity between wall and first cell along the normal,
/// with the full stress: mu (w + n (w.n) / 3), w = du/dn.
struct WallPoint {
    Real3 centre{}, area{};        // area: out of the domain (into the body)
    std::array<Real3, 2> edges{};  // three dimensions: the mean of opposite ones, along either axis
    double pressure = 0, density = 0, temperature = 0;
    bool viscous = false;
    Real3 stress{};     // of the fluid on the wall, without pressure
    double y_plus = 0;  // of the first cell's centre
    Int3 cell{};
};

/// Calls `found` for the wall faces of a patch, x fastest. q and centres: with borders, and one layer of
/// ghosts beyond other faces. `motion`: of the grid.
template <int Dim>
void wall_points(const Gas& gas, const Boundary& boundary, const RigidMotion& motion, const PatchFace& face,
                 const FieldView<const double>& nodes, const FieldView<const double>& q,
                 const FieldView<const double>& centres, const std::function<void(const WallPoint&)>& found);

/// Sums over walls, one reduction: forces and moments about the origin of pressure and of friction; area and
/// y+ times area.
///   const auto sums = graph.scalar<WallSums>("walls", Reduce::sum);
inline constexpr int kWallSums = 14;
using WallSums = std::array<double, kWallSums>;
/// Largest y+, and minus the smallest one: Reduce::max, first -infinity.
using WallExtremes = std::array<double, 2>;

/// Pressure acts as p - `far_pressure`, so that forces on a body that is not closed mean something.
/// `axisymmetric`: the points are those of a meridian plane, x the axis: forces of the whole body, along x
/// alone.
void add_point(const WallPoint& point, double far_pressure, bool axisymmetric, WallSums& sums,
               WallExtremes& extremes);

/// Of pressure and friction together; moments about the origin.
[[nodiscard]] Real3 force_of(const WallSums& sums);
[[nodiscard]] Real3 moment_of(const WallSums& sums);

/// Coefficients of forces and moments about the reference centre; of `pressure` and `friction` apart.
struct Coefficients {
    struct Part {
        double lift = 0, drag = 0, side = 0;
        Real3 force{};                        // along x, y, z
        double pitch = 0, roll = 0, yaw = 0;  // nose up, starboard wing down, nose to starboard
    };
    Part pressure, friction, all;
};
[[nodiscard]] Coefficients coefficients(const WallSums& sums, const Reference& reference);

/// y+ of the first cells: mean by area. Zeros without viscous walls.
struct YPlus {
    double least = 0, mean = 0, largest = 0;
};
[[nodiscard]] YPlus y_plus(const WallSums& sums, const WallExtremes& extremes);

/// Coefficients of a point: Cp = (p - 1/gamma) / (M^2/2), and stress over the same.
[[nodiscard]] double pressure_coefficient(const WallPoint& point, const Reference& reference, double gamma);
[[nodiscard]] Real3 friction_coefficient(const WallPoint& point, const Reference& reference);

}  // namespace strata::flow
