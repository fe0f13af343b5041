// What is said of rotors: thrust, torque, and the lift of sections along the blades.
#pragma once

#include <array>
#include <vector>

#include "solvers/flow/output/walls.hpp"

namespace strata::flow {

/// A rotor and how it turns. Walls are those of one of `sectors` equal parts.
struct Rotor {
    int axis = 2;
    double rate = 0, radius = 1;
    Real3 centre{};
    int sectors = 1;
    std::vector<double> stations = {};  // shares of the radius
};

/// Of all sectors: thrust along the axis over rho (rate R)^2 pi R^2; the torque that turns the rotor, which
/// is also its power, over that times R; and what an ideal rotor would need of the power.
struct RotorCoefficients {
    double thrust = 0, power = 0, merit = 0;
};
[[nodiscard]] RotorCoefficients rotor_coefficients(const WallSums& sums, const Rotor& rotor);

/// Sums at stations, of wall faces within 0.02 radii of them: force along the axis, and rho (rate r)^2 / 2
/// times half of the area seen along it, which is the blade's plan. A face counts by the share of its extent
/// along the radius that lies there, so that wide faces are no matter of luck.
inline constexpr std::size_t kMostStations = 16;
inline constexpr double kStationReach = 0.02;
using StationSums = std::array<double, 2 * kMostStations>;
void add_station(const WallPoint& point, double far_pressure, const Rotor& rotor, StationSums& sums);
/// The section's force along the axis over its plan and rho (rate r)^2 / 2; 0 without walls there.
[[nodiscard]] double section_lift(const StationSums& sums, std::size_t station);

}  // namespace strata::flow
