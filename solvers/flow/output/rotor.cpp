#include "solvers/flow/output/rotor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace strata::flow {

RotorCoefficients rotor_coefficients(const WallSums& sums, const Rotor& rotor) {
    const Real3 force = force_of(sums), moment = moment_of(sums);
    const auto a = static_cast<std::size_t>(rotor.axis), b = (a + 1) % 3, c = (a + 2) % 3;
    const double torque = moment[a] - (rotor.centre[b] * force[c] - rotor.centre[c] * force[b]);
    const double tip = rotor.rate * rotor.radius;
    const double unit = tip * tip * std::numbers::pi * rotor.radius * rotor.radius / rotor.sectors;
    RotorCoefficients all;
    all.thrust = force[a] / unit;
    // The fluid's torque is against the rotation.
    all.power = (rotor.rate > 0 ? -torque : torque) / (unit * rotor.radius);
    if (all.thrust > 0 && all.power > 0) all.merit = std::pow(all.thrust, 1.5) / (std::sqrt(2) * all.power);
    return all;
}

void add_station(const WallPoint& point, double far_pressure, const Rotor& rotor, StationSums& sums) {
    const auto a = static_cast<std::size_t>(rotor.axis), b = (a + 1) % 3, c = (a + 2) % 3;
    const double r = std::hypot(point.centre[b] - rotor.centre[b], point.centre[c] - rotor.centre[c]);
    double size = 0;
    for (const double s : point.area) size += s * s;
    const double force = (point.pressure - far_pressure) * point.area[a] + std::sqrt(size) * point.stress[a];
    const double speed = rotor.rate * r, plan = 0.5 * std::abs(point.area[a]);
    // From where to where the face lies along the radius: faces beside each other leave nothing out.
    double half = 0;
    for (const Real3& edge : point.edges) {
        const double along =
            edge[b] * (point.centre[b] - rotor.centre[b]) + edge[c] * (point.centre[c] - rotor.centre[c]);
        half = std::max(half, r > 0 ? 0.5 * std::abs(along) / r : 0.0);
    }
    for (std::size_t n = 0; n < rotor.stations.size(); ++n) {
        const double at = rotor.stations[n] * rotor.radius, reach = kStationReach * rotor.radius;
        const double within = std::min(r + half, at + reach) - std::max(r - half, at - reach);
        const double share = half > 0 ? std::max(0.0, within) / (2 * half) : within >= 0 ? 1 : 0;
        sums[2 * n] += share * force, sums[2 * n + 1] += share * 0.5 * speed * speed * plan;
    }
}

double section_lift(const StationSums& sums, std::size_t station) {
    const double unit = sums[2 * station + 1];
    return unit > 0 ? sums[2 * station] / unit : 0;
}

}  // namespace strata::flow
