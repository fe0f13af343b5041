#include "solvers/flow/exact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/error.hpp"

namespace strata::flow {

namespace {

/// What one side of a Riemann problem contributes to the velocity behind its wave (Toro, eq. 4.6 and 4.7),
/// and its derivative by pressure (4.37).
struct Wave {
    double change, slope;
};
Wave wave(const GasState& side, double p, double gamma) {
    const double a = std::sqrt(gamma * side.p / side.rho);
    if (p > side.p) {
        const double A = 2 / ((gamma + 1) * side.rho), B = (gamma - 1) / (gamma + 1) * side.p;
        const double root = std::sqrt(A / (p + B));
        return {(p - side.p) * root, root * (1 - (p - side.p) / (2 * (B + p)))};
    }
    const double z = (gamma - 1) / (2 * gamma);
    return {2 * a / (gamma - 1) * (std::pow(p / side.p, z) - 1),
            std::pow(p / side.p, -(gamma + 1) / (2 * gamma)) / (side.rho * a)};
}

void check(const GasState& state, const char* side) {
    if (state.rho > 0 && state.p > 0) return;
    throw Error(fmt::format("the {} state of a Riemann problem cannot be", side))
        .given(fmt::format("density {}, pressure {}", state.rho, state.p))
        .allowed("both above 0");
}

}  // namespace

RiemannProblem::RiemannProblem(const GasState& left, const GasState& right, double gamma)
    : left_(left), right_(right), gamma_(gamma) {
    check(left, "left"), check(right, "right");
    const double al = std::sqrt(gamma * left.p / left.rho), ar = std::sqrt(gamma * right.p / right.rho);
    if (2 / (gamma - 1) * (al + ar) <= right.u - left.u)
        throw Error("the states of a Riemann problem leave a vacuum between them")
            .given(fmt::format("velocities {} and {}", left.u, right.u))
            .allowed(fmt::format("a difference below {}", 2 / (gamma - 1) * (al + ar)));
    // Two rarefactions (4.46): exact where both are, and never far off.
    const double z = (gamma - 1) / (2 * gamma);
    const double top = al + ar - (gamma - 1) / 2 * (right.u - left.u);
    p_ = std::pow(top / (al / std::pow(left.p, z) + ar / std::pow(right.p, z)), 1 / z);
    for (int i = 0; i < 100; ++i) {
        const Wave l = wave(left, p_, gamma), r = wave(right, p_, gamma);
        const double next =
            std::max(1e-3 * p_, p_ - (l.change + r.change + right.u - left.u) / (l.slope + r.slope));
        const bool done = std::abs(next - p_) <= 1e-15 * p_;
        p_ = next;
        if (done) break;
    }
    u_ = 0.5 * (left.u + right.u) + 0.5 * (wave(right, p_, gamma).change - wave(left, p_, gamma).change);
}

GasState RiemannProblem::at(double speed) const {
    // The right side is the left one of the mirrored problem.
    const bool left = speed <= u_;
    const double sign = left ? 1 : -1;
    const GasState& side = left ? left_ : right_;
    const double s = sign * speed, u = sign * side.u, star = sign * u_, g = gamma_;
    const double a = std::sqrt(g * side.p / side.rho), ratio = p_ / side.p;
    if (ratio > 1) {
        const double shock = u - a * std::sqrt((g + 1) / (2 * g) * ratio + (g - 1) / (2 * g));
        if (s <= shock) return side;
        const double q = (g - 1) / (g + 1);
        return {side.rho * (ratio + q) / (q * ratio + 1), u_, p_};
    }
    const double star_a = a * std::pow(ratio, (g - 1) / (2 * g));
    if (s <= u - a) return side;
    if (s >= star - star_a) return {side.rho * std::pow(ratio, 1 / g), u_, p_};
    const double c = 2 / (g + 1) + (g - 1) / ((g + 1) * a) * (u - s);  // a of the fan over a of the side
    return {side.rho * std::pow(c, 2 / (g - 1)), sign * (2 / (g + 1) * (a + (g - 1) / 2 * u + s)),
            side.p * std::pow(c, 2 * g / (g - 1))};
}

RiemannProblem sod() { return {{1, 0, 1}, {0.125, 0, 0.1}}; }
RiemannProblem lax() { return {{0.445, 0.698, 3.528}, {0.5, 0, 0.571}}; }

std::array<double, 4> IsentropicVortex::at(const Real3& x, double t, const Real3& period) const {
    std::array<double, 2> r{};
    for (std::size_t d = 0; d < 2; ++d) {
        r[d] = x[d] - centre[d] - velocity[d] * t;
        if (period[d] > 0) r[d] -= period[d] * std::round(r[d] / period[d]);
        r[d] /= radius;
    }
    // Homentropic: rho^(gamma - 1) = T = 1 - (gamma - 1) / 2 times the square of the swirl's integral.
    const double swirl =
        strength / (2 * std::numbers::pi) * std::exp(0.5 * (1 - (r[0] * r[0] + r[1] * r[1])));
    const double T = 1 - 0.5 * (gamma - 1) * swirl * swirl;
    const double rho = std::pow(T, 1 / (gamma - 1));
    return {rho, velocity[0] - swirl * r[1], velocity[1] + swirl * r[0], rho * T / gamma};
}

namespace {

constexpr double kBlasiusEnd = 12, kBlasiusStep = 1e-3;

using Profile = std::array<double, 3>;
Profile moved(const Profile& f, double h, const Profile& by) {
    return {f[0] + h * by[0], f[1] + h * by[1], f[2] + h * by[2]};
}
Profile blasius_step(const Profile& f, double h) {
    const auto slope = [](const Profile& g) { return Profile{g[1], g[2], -0.5 * g[0] * g[2]}; };
    const Profile a = slope(f), b = slope(moved(f, h / 2, a)), c = slope(moved(f, h / 2, b)),
                  d = slope(moved(f, h, c));
    Profile sum;
    for (std::size_t i = 0; i < 3; ++i) sum[i] = (a[i] + 2 * b[i] + 2 * c[i] + d[i]) / 6;
    return moved(f, h, sum);
}

}  // namespace

Blasius::Blasius() {
    const auto shoot = [&](double shear) {
        f_.assign(1, {0, 0, shear});
        for (double eta = 0; eta < kBlasiusEnd; eta += kBlasiusStep)
            f_.push_back(blasius_step(f_.back(), kBlasiusStep));
        return f_.back()[1];
    };
    // f' at the end grows with f''(0)^(2/3) (Toepfer 1912: one shot would do); secants reach rounding at
    // once.
    double a = 0.3, b = 0.35, fa = shoot(a) - 1, fb = shoot(b) - 1;
    for (int i = 0; i < 20 && std::abs(fb) > 1e-14 && fa != fb; ++i) {
        const double c = b - fb * (b - a) / (fb - fa);
        a = b, fa = fb, b = c, fb = shoot(c) - 1;
    }
    shear_ = f_.front()[2];
}

std::array<double, 3> Blasius::at(double eta) const {
    const double end = kBlasiusStep * static_cast<double>(f_.size() - 1);
    if (eta >= end) return {f_.back()[0] + (eta - end), 1, 0};
    const auto i = static_cast<std::size_t>(std::max(0.0, eta) / kBlasiusStep);
    return blasius_step(f_[i], eta - kBlasiusStep * static_cast<double>(i));
}
double Blasius::u(double eta) const { return at(eta)[1]; }
double Blasius::v(double eta) const {
    const auto f = at(eta);
    return 0.5 * (eta * f[1] - f[0]);
}
double Blasius::friction(double reynolds_x) const { return 2 * shear_ / std::sqrt(reynolds_x); }

Couette::Couette(double speed, double temperature_below, double temperature_above, double gamma,
                 double prandtl, double sutherland)
    : speed_(speed),
      below_(temperature_below),
      above_(temperature_above),
      gamma_(gamma),
      prandtl_(prandtl),
      sutherland_(sutherland) {
    stress_ = viscosity_until(speed);
}
double Couette::temperature(double u) const {
    const double dissipation = prandtl_ * (gamma_ - 1) / 2;
    return below_ + (above_ - below_) * u / speed_ + dissipation * u * (speed_ - u);
}
double Couette::viscosity_until(double u) const {
    // Gauss and Legendre, 5 points on each of 16 parts: rounding, as T is a parabola.
    constexpr std::array<double, 3> at{0, 0.5384693101056831, 0.9061798459386640},
        weight{0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    const auto mu = [&](double v) {
        const double T = temperature(v);
        return T * std::sqrt(T) * (1 + sutherland_) / (T + sutherland_);
    };
    constexpr int parts = 16;
    const double half = u / (2 * parts);
    double sum = 0;
    for (int p = 0; p < parts; ++p) {
        const double middle = (2 * p + 1) * half;
        sum += weight[0] * mu(middle);
        for (std::size_t i = 1; i < 3; ++i)
            sum += weight[i] * (mu(middle - at[i] * half) + mu(middle + at[i] * half));
    }
    return sum * half;
}
double Couette::u(double y) const {
    // y(u) = (integral of mu until u) / stress grows with u.
    double low = 0, high = speed_;
    for (int i = 0; i < 200 && low != high; ++i) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        (viscosity_until(middle) / stress_ < y ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace strata::flow
