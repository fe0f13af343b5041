#include "solvers/transport/exact.hpp"

#include <cmath>
#include <numbers>

namespace strata::transport {

namespace {

constexpr double kPi = std::numbers::pi;

/// Of the cosines, in 1/m.
double wave_number(const Settings& s, std::size_t d) {
    return (s.periodic ? 2 : 1) * kPi * static_cast<double>(s.waves[d]) / s.size[d];
}

double cosines(const Settings& s, const Real3& x) {
    double product = 1;
    for (std::size_t d = 0; d < s.cells.size(); ++d) product *= std::cos(wave_number(s, d) * x[d]);
    return product;
}

/// What is left of the cosines' height at time.end; a flow leaves all of it.
double decay(const Settings& s) {
    if (!s.heat()) return 1;
    double k2 = 0;
    for (std::size_t d = 0; d < s.cells.size(); ++d) k2 += wave_number(s, d) * wave_number(s, d);
    return std::exp(-s.diffusivity * k2 * s.end);
}

/// To the nearest image where the domain is periodic.
double gaussian(const Settings& s, const Real3& x) {
    double r2 = 0;
    for (std::size_t d = 0; d < s.cells.size(); ++d) {
        double away = x[d] - s.centre[d];
        if (s.periodic) away -= s.size[d] * std::round(away / s.size[d]);
        r2 += away * away;
    }
    return std::exp(-r2 / (s.width * s.width));
}

/// v = (d psi/dy, -d psi/dx). Rotation: once until the end. Vortex: LeVeque, SIAM J. Numer. Anal. 33 (1996)
/// 627, eq. 9.5, scaled to the domain.
double stream_function(const Settings& s, double x, double y) {
    if (s.flow == "rotation") {
        const double dx = x - s.size[0] / 2, dy = y - s.size[1] / 2;
        return -kPi / s.end * (dx * dx + dy * dy);
    }
    const double a = std::sin(kPi * x / s.size[0]), b = std::sin(kPi * y / s.size[1]);
    return a * a * b * b * s.size[0] / kPi;
}

}  // namespace

double initial(const Settings& s, const Real3& x) {
    return s.background + (s.profile == "cosines" ? cosines(s, x) : gaussian(s, x));
}

bool has_exact(const Settings& s) {
    if (s.heat()) return s.profile == "cosines";
    return s.flow != "uniform" || s.periodic;
}

double exact(const Settings& s, const Real3& x) {
    if (s.heat()) return s.background + decay(s) * cosines(s, x);
    if (s.flow != "uniform") return initial(s, x);
    Real3 from = x;
    for (std::size_t d = 0; d < s.cells.size(); ++d) from[d] -= s.velocity[d] * s.end;
    return initial(s, from);
}

double exact_size(const Settings& s) {
    double square = 1;
    for (std::size_t d = 0; d < s.cells.size(); ++d) {
        if (s.profile == "cosines")
            square *= s.waves[d] == 0 ? 1 : 0.5;
        else
            square *= std::sqrt(kPi / 2) * s.width / s.size[d];
    }
    return std::sqrt(square) * decay(s);
}

double face_velocity(const Settings& s, int axis, const Real3& x) {
    if (s.flow == "uniform") return s.velocity[static_cast<std::size_t>(axis)];
    const Real3 h = s.spacing();
    if (axis == 0)
        return (stream_function(s, x[0], x[1] + h[1] / 2) - stream_function(s, x[0], x[1] - h[1] / 2)) / h[1];
    return -(stream_function(s, x[0] + h[0] / 2, x[1]) - stream_function(s, x[0] - h[0] / 2, x[1])) / h[0];
}

double flow_factor(const Settings& s, double t) { return s.flow == "vortex" ? std::cos(kPi * t / s.end) : 1; }

}  // namespace strata::transport
