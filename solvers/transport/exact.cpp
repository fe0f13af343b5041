#include "solvers/transport/exact.hpp"

#include <cmath>
#include <numbers>

namespace strata::transport {

namespace {

constexpr double kPi = std::numbers::pi;

/// Of the cosines, in 1/m; 0 along a direction that is not there.
double wave_number(const Settings& s, std::size_t d) {
    if (d >= s.directions()) return 0;
    return (s.periodic ? 2 : 1) * kPi * static_cast<double>(s.waves[d]) / s.size[d];
}

/// What is left of the cosines' height at time t; a flow leaves all of it.
double decay(const Settings& s, double t) {
    if (!s.heat()) return 1;
    double k2 = 0;
    for (std::size_t d = 0; d < s.cells.size(); ++d) k2 += wave_number(s, d) * wave_number(s, d);
    return std::exp(-s.diffusivity * k2 * t);
}

/// Of the distance from a Gaussian's centre along direction d, if there is such a direction: from the nearest
/// image where the domain is periodic.
double square_of_distance(const Settings& s, std::size_t d, double x) {
    if (d >= s.directions()) return 0;
    double away = x - s.centre[d];
    if (s.periodic) away -= s.size[d] * std::round(away / s.size[d]);
    return away * away;
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

Profile::Profile(const Settings& s, const graph::Box& cells, double t)
    : cosines_(s.profile == "cosines"),
      background_(s.background),
      height_(decay(s, t)),
      square_of_width_(s.width * s.width),
      lo_(cells.lo) {
    const Real3 h = s.spacing();
    const bool carried = !s.heat() && s.flow == "uniform";
    for (std::size_t d = 0; d < 3; ++d)
        for (int at = cells.lo[d]; at < cells.hi[d]; ++at) {
            double x = (at + 0.5) * h[d];
            if (carried && d < s.directions()) x -= s.velocity[d] * t;
            parts_[d].push_back(cosines_ ? std::cos(wave_number(s, d) * x) : square_of_distance(s, d, x));
        }
}

bool has_exact(const Settings& s) {
    return s.heat() ? s.profile == "cosines" : s.flow != "uniform" || s.periodic;
}

double exact_size(const Settings& s) {
    double square = 1;
    for (std::size_t d = 0; d < s.cells.size(); ++d)
        square *= s.profile != "cosines" ? std::sqrt(kPi / 2) * s.width / s.size[d]
                  : s.waves[d] == 0      ? 1
                                         : 0.5;
    return std::sqrt(square) * decay(s, s.end);
}

double face_velocity(const Settings& s, int axis, const Real3& x) {
    if (s.flow == "uniform") return s.velocity[static_cast<std::size_t>(axis)];
    const Real3 h = s.spacing();
    const auto psi = [&](double i, double j) { return stream_function(s, x[0] + i * h[0], x[1] + j * h[1]); };
    return axis == 0 ? (psi(0, 0.5) - psi(0, -0.5)) / h[1] : -(psi(0.5, 0) - psi(-0.5, 0)) / h[0];
}

double flow_factor(const Settings& s, double t) { return s.flow == "vortex" ? std::cos(kPi * t / s.end) : 1; }

}  // namespace strata::transport
