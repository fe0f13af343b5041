#include "solvers/mpm/exact.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "solvers/mpm/surface.hpp"

namespace strata::mpm {

namespace {

constexpr double kPi = std::numbers::pi;

/// u = (v0 / w) sin(b x) sin(w t), b = pi / 2L, w = b sqrt(E / rho): first mode of a bar that is fixed at
/// x = 0 and free at L, with no lateral strain or a Poisson's ratio of 0 (Rao, Mechanical Vibrations, 5th ed.
/// 2011, table 8.1).
Motion axial(const Settings& s, const Real3& X, double t) {
    const Body& bar = s.bodies[0];
    const double b = kPi / (2 * (bar.high()[0] - bar.low()[0]));
    const double w = b * std::sqrt(s.materials[0].modulus() / s.materials[0].density);
    const double shape = std::sin(b * (X[0] - bar.low()[0])), slope = b * std::cos(b * (X[0] - bar.low()[0]));
    Motion m;
    m.u[0] = s.amplitude / w * shape * std::sin(w * t);
    m.v[0] = s.amplitude * shape * std::cos(w * t);
    m.stretch[0] = 1 + s.amplitude / w * slope * std::sin(w * t);
    return m;
}

/// u_i = A sin(k X_i) g_i(t): F is diagonal, and div P / rho0 has in direction i
///   ((lambda (1 - ln J) + mu) / F_ii^2 + mu) u_i'' / rho0,
/// so the body force is b_i = A sin(k X_i) g_i'' - that.
Motion manufactured(const Settings& s, const Real3& X, double t) {
    const Material& m = s.materials[0];
    const bool cube = s.problem == "cube";
    const double c = std::sqrt(m.young() / m.density);
    Motion all;
    double log_J = 0;
    Real3 curvature{}, acceleration{};
    for (std::size_t i = 0; i < (cube ? 3U : 1U); ++i) {
        if (cube && s.cells[i] == 1) continue;  // a square
        const double k = (cube ? 1 : 2) * kPi / s.size[i], w = c * kPi / s.size[i];
        const double phase = cube ? static_cast<double>(i) * 2 * kPi / 3 : kPi / 2;
        const double g = std::sin(w * t + phase), rate = w * std::cos(w * t + phase);
        all.u[i] = s.amplitude * std::sin(k * X[i]) * g;
        all.v[i] = s.amplitude * std::sin(k * X[i]) * rate;
        all.stretch[i] = 1 + s.amplitude * k * std::cos(k * X[i]) * g;
        acceleration[i] = -w * w * all.u[i];
        curvature[i] = -k * k * all.u[i];
        log_J += std::log(all.stretch[i]);
    }
    for (std::size_t i = 0; i < 3; ++i) {
        const double stiffness = (m.lambda * (1 - log_J) + m.mu) / (all.stretch[i] * all.stretch[i]) + m.mu;
        all.force[i] = acceleration[i] - stiffness * curvature[i] / m.density;
    }
    return all;
}

/// A ring of radii a and b is turned in its middle: a point at the radius r by the angle
/// alpha = A (1 - xi^2)^2 sin(w t), xi = (2 r - a - b) / (b - a), w = pi c / (a + b) (Brannon, Kamojjala and
/// Sadeghirad, Establishing credibility of particle methods through verification testing, PARTICLES 2011,
/// whose ring is from 0.75 to 1.25). Neither edge moves nor is strained. F is a rotation and, in the axes of
/// the turned radius, a simple shear g = r alpha', so sigma_tt = mu g^2 and sigma_rt = mu g are the only
/// stresses, and div sigma has the components -mu g^2 / r and mu (g' + 2 g / r).
Motion vortex(const Settings& s, const Real3& X, double t) {
    const Material& m = s.materials[0];
    const Real3 centre = s.bodies[0].a;
    const double a = s.bodies[0].radius, b = s.bodies[1].radius;
    const double x = X[0] - centre[0], y = X[1] - centre[1], r = std::hypot(x, y);
    const double w = kPi * std::sqrt(m.young() / m.density) / (a + b);
    const double per = 2 / (b - a), xi = (2 * r - a - b) / (b - a), rest = 1 - xi * xi;
    const double profile = s.amplitude * rest * rest, slope = -4 * s.amplitude * xi * rest * per,
                 bend = s.amplitude * (12 * xi * xi - 4) * per * per;
    const double g = std::sin(w * t), rate = w * std::cos(w * t);
    const double shear = r * slope * g, shear_slope = (slope + r * bend) * g;
    const double radial = -r * std::pow(profile * rate, 2) + m.mu * shear * shear / r / m.density;
    const double around = -w * w * r * profile * g - m.mu * (shear_slope + 2 * shear / r) / m.density;
    const double cosine = std::cos(profile * g), sine = std::sin(profile * g);
    const Real3 out{(x * cosine - y * sine) / r, (x * sine + y * cosine) / r, 0}, along{-out[1], out[0], 0};
    Motion all;
    for (std::size_t i = 0; i < 2; ++i) {
        all.u[i] = r * out[i] - (X[i] - centre[i]);
        all.v[i] = r * profile * rate * along[i];
        all.force[i] = radial * out[i] + around * along[i];
    }
    return all;
}

/// A long bar that comes with the speed V and hits a wall at x = 0; its sides cannot move. An elastic wave
/// takes the speed that it has at the yield point, sigma_y / 2 mu of strain, a slower plastic one the rest
/// (Meyers, Dynamic Behavior of Materials, 1994, sections 3.2 and 4.3, for small strains). In uniaxial strain
/// e the von Mises stress is q = 2 mu e - 3 mu alpha = sigma_y + H alpha and the axial one K e + 2/3 q, so
/// beyond the yield point it grows by K + 4/3 mu H / (3 mu + H).
Motion impact(const Settings& s, const Real3& X, double t) {
    const Material& m = s.materials[0];
    const double c = m.wave_speed(), bulk = m.lambda + 2 * m.mu / 3;
    const double slope = bulk + 4.0 / 3 * m.mu * m.hardening / (3 * m.mu + m.hardening);
    const double slow = m.plastic() ? std::sqrt(slope / m.density) : c;
    const double taken = m.plastic() ? std::min(s.amplitude, c * m.yield / (2 * m.mu)) : s.amplitude;
    const double first = X[0] / c, second = X[0] / slow;
    Motion all;
    all.u[0] = -s.amplitude * std::min(t, second) + taken * std::clamp(t - first, 0.0, second - first);
    all.v[0] = t < first ? -s.amplitude : t < second ? taken - s.amplitude : 0;
    return all;
}

/// The second body on the first, which is held: it is at rest where friction can hold it, otherwise it slides
/// with what gravity along the face leaves above `friction` times that across it.
Motion sliding(const Settings& s, const Real3& X, double t) {
    Motion m;
    if (!s.bodies[1].contains(X)) return m;
    const double left = std::max(0.0, std::abs(s.gravity[0]) - s.friction * std::abs(s.gravity[1]));
    const double a = std::copysign(left, s.gravity[0]);
    m.u[0] = 0.5 * a * t * t, m.v[0] = a * t;
    return m;
}

/// A thick cylinder under pressure in its hole, in plane strain (Lame; Timoshenko and Goodier, Theory of
/// Elasticity, 3rd ed. 1970, section 28): u_r = (1 + nu) / E p a^2 / (b^2 - a^2) ((1 - 2 nu) r + b^2 / r).
double radial(const Settings& s, double r) {
    const Material& m = s.materials[0];
    const double nu = m.lambda / (2 * (m.lambda + m.mu)), a = s.bodies[0].radius, b = s.bodies[1].radius;
    return (1 + nu) / m.young() * s.surfaces[0].pressure * a * a / (b * b - a * a) *
           ((1 - 2 * nu) * r + b * b / r);
}
Motion cylinder(const Settings& s, const Real3& X, double t) {
    const Real3 centre = s.bodies[0].a;
    const double x = X[0] - centre[0], y = X[1] - centre[1], r = std::hypot(x, y);
    Motion m;
    const double u = load_share(s, t) * radial(s, r);
    m.u[0] = u * x / r, m.u[1] = u * y / r;
    return m;
}

}  // namespace

Motion exact_motion(const Settings& s, const Real3& X, double t) {
    if (s.problem == "axial") return axial(s, X, t);
    if (s.problem == "sliding") return sliding(s, X, t);
    if (s.problem == "cylinder") return cylinder(s, X, t);
    if (s.vortex()) return vortex(s, X, t);
    return s.problem == "impact" ? impact(s, X, t) : manufactured(s, X, t);
}

double exact_displacement(const Settings& s) {
    const double amplitude = std::abs(s.amplitude);
    if (s.problem == "impact") return amplitude * s.end;
    if (s.problem == "cylinder") return std::abs(radial(s, s.bodies[0].radius));
    if (s.problem == "sliding") return 0.5 * std::abs(s.gravity[0]) * s.end * s.end;
    if (s.vortex()) return 0.5 * amplitude * (s.bodies[0].radius + s.bodies[1].radius);
    if (s.problem != "axial") return amplitude;
    const double length = s.bodies[0].high()[0] - s.bodies[0].low()[0];
    return amplitude / (kPi / (2 * length) * s.materials[0].wave_speed());
}

}  // namespace strata::mpm
