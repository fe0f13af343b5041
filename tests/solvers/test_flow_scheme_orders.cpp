// Orders of accuracy of the flow solver's schemes, by exact and manufactured solutions. The sources of
// manufactured solutions are made by automatic differentiation (flow_dual.hpp) of the equations as they stand
// in papers, apart from the solver's code.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/solvers/flow_block.hpp"
#include "tests/solvers/flow_dual.hpp"

using namespace flow_test;

namespace {

constexpr double kPi = std::numbers::pi;

/// Three stages of third order (Shu and Osher 1988) with periodic ends.
template <int Dim>
void runge_kutta(Block<Dim>& b, const Scheme& scheme, double dt) {
    const Values old = b.q;
    const double share[] = {0, 0.75, 1.0 / 3};
    for (const double keep : share) {
        for (int axis = 0; axis < Dim; ++axis) b.periodic(axis);
        b.compute(scheme);
        strata::graph::for_each(b.cells, [&](int i, int j, int k) {
            for (int c = 0; c < Dim + 2; ++c)
                b.q.view()(i, j, k, c) =
                    keep * old.read()(i, j, k, c) +
                    (1 - keep) *
                        (b.q.view()(i, j, k, c) - dt / b.volume.view()(i, j, k) * b.mean.view()(i, j, k, c));
        });
    }
}

/// Mean error of the density after a wave of it has gone once around n cells.
double wave_error(int n, const Muscl& muscl) {
    Block<2> b({n, 1, 1}, [n](int i, int j, int) { return Real3{double(i) / n, double(j) / n, 0}; });
    const auto mean = [n](int i) {  // of 1 + 0.2 sin(2 pi x)
        return 1 + 0.2 * n / (2 * kPi) * (std::cos(2 * kPi * i / n) - std::cos(2 * kPi * (i + 1) / n));
    };
    for (int i = 0; i < n; ++i) b.put(i, 0, 0, conserved<2, double>({mean(i), {1, 0}, 1 / 1.4}, 1.4));
    Scheme s;
    s.muscl = muscl;
    const int steps = 8 * n;
    for (int step = 0; step < steps; ++step) runge_kutta(b, s, 1.0 / steps);
    double error = 0;
    for (int i = 0; i < n; ++i) error += std::abs(b.q.view()(i, 0, 0) - mean(i)) / n;
    return error;
}

}  // namespace

TEST_CASE(
    "MUSCL with kappa = 1/3 advects a smooth wave with order 3, others with order 2, first order with 1") {
    const auto order = [](const Muscl& m) { return std::log2(wave_error(32, m) / wave_error(64, m)); };
    CHECK(order({}) > 2.9);
    CHECK(order({.kappa = -1}) == Approx(2).margin(0.15));
    CHECK(order({.first_order = true}) == Approx(1).margin(0.25));
    CHECK(order({.limiter = Limiter::van_albada}) > 1.9);
    CHECK(order({.limiter = Limiter::van_leer}) > 1.7);
    CHECK(order({.limiter = Limiter::minmod}) > 1.6);
}

namespace {

/// An isentropic vortex in a flow along the diagonal; after a time it has only moved. Domain: 10 x 10,
/// periodic.
double vortex_error(int n) {
    const Int3 cells{n, n, 1};
    const auto grid = wavy<2>(cells, 0.02);
    Block<2> b(cells, [&](int i, int j, int k) {
        const Real3 x = grid(i, j, k);
        return Real3{10 * x[0], 10 * x[1], 0};
    });
    constexpr double strength = 0.5, end = 2, speed = 0.5;
    const auto exact = [&](double time) {
        return [time](const Real3& x) {
            const auto from = [time](double at) { return std::remainder(at - 5 - speed * time, 10); };
            const double dx = from(x[0]), dy = from(x[1]), e = std::exp(0.5 * (1 - dx * dx - dy * dy));
            const double T = 1 - 0.2 * strength * strength * e * e;  // a^2, for velocities strength e r
            Primitive<2, double> w{
                std::pow(T, 2.5), {speed - strength * e * dy, speed + strength * e * dx}, 0};
            w.p = w.rho * T / 1.4;
            return w;
        };
    };
    b.set(b.cells, exact(0));
    Scheme s;
    const int steps = 5 * n / 2;
    for (int step = 0; step < steps; ++step) runge_kutta(b, s, end / steps);
    double square = 0, area = 0;
    strata::graph::for_each(b.cells, [&](int i, int j, int k) {
        const double V = b.volume.view()(i, j, k),
                     e = b.q.view()(i, j, k) - exact(end)(b.centre_of(i, j, k)).rho;
        square += V * e * e;
        area += V;
    });
    return std::sqrt(square / area);
}

}  // namespace

TEST_CASE("an isentropic vortex on a wavy grid: order 2") {
    const double coarse = vortex_error(40), fine = vortex_error(80);
    CHECK(fine < 1e-3);
    CHECK(std::log2(coarse / fine) > 1.9);
}

namespace {

/// The manufactured state: density, velocity, pressure, nu~ and the distance from a wall, smooth and without
/// symmetry.
template <class T>
struct Made {
    T rho, u, v, p, nu, distance;
};
template <class T>
Made<T> made(const T& x, const T& y) {
    using std::cos, std::sin;
    return {1.0 + 0.1 * sin(1.7 * x + 0.3) * cos(1.1 * y),
            0.3 + 0.5 * y + 0.1 * cos(1.3 * x - 0.9 * y),
            0.3 + 0.1 * sin(0.8 * x + 1.6 * y),
            (1.0 + 0.15 * cos(1.5 * x) * sin(1.2 * y + 0.4)) / 1.4,
            3.0 + 1.0 * sin(0.9 * x + 0.5) + 0.8 * cos(0.7 * y + 1.0),
            1.0 + 0.4 * y + 0.1 * x};
}

/// What has to be added to each equation: the divergence of its fluxes less the sources of the model.
std::array<double, 5> made_source(const Real3& at, const Scheme& scheme) {
    const auto at2 = variables(at[0], at[1]);
    const Made<Twice> m = made(at2[0], at2[1]);
    const Once rho = m.rho.v, u = m.u.v, v = m.v.v, p = m.p.v;
    const Gas& gas = scheme.gas;
    const double scale = gas.viscous_scale();
    const Once E = p / (gas.gamma - 1) + 0.5 * rho * (u * u + v * v);
    const Once velocity[] = {u, v};
    Once flux[2][4];
    for (int d = 0; d < 2; ++d) {
        flux[d][0] = rho * velocity[d];
        for (int e = 0; e < 2; ++e)
            flux[d][1 + e] = rho * velocity[d] * velocity[e] + (d == e ? p : Once(0.0));
        flux[d][3] = (E + p) * velocity[d];
    }
    double nu_source = 0;
    if (scheme.viscous()) {
        const Twice T2 = gas.gamma * m.p / m.rho;
        const Once T = T2.v, mu = T * sqrt(T) * (1 + gas.sutherland) / (T + gas.sutherland);
        Once mu_t = 0.0;
        if (scheme.turbulent()) {
            const Once nu = mu / rho, tilde = m.nu.v, chi = tilde / nu, cube = chi * chi * chi;
            mu_t = rho * tilde * cube / (cube + 357.911);
            const Once *g = m.nu.d.data(), all = nu + tilde;
            const double laplace = g[0].d[0] + g[1].d[1];
            double diffusion = 0;
            for (int d = 0; d < 2; ++d) diffusion += 1.622 * (all * g[d]).d[std::size_t(d)];
            diffusion -= 0.622 * all.v * laplace;
            nu_source = u.v * g[0].v + v.v * g[1].v - scale * 1.5 * diffusion;
            const double x = chi.v, d2 = m.distance.v.v * m.distance.v.v, k2 = 0.41 * 0.41;
            const double fv1 = cube.v / (cube.v + 357.911), fv2 = 1 - x / (1 + x * fv1);
            const double turning = std::abs(m.v.d[0].v - m.u.d[1].v);
            const double S = std::max(turning + scale * tilde.v * fv2 / (k2 * d2), scheme.sa.clip * turning);
            const double ft2 = scheme.sa.ft2 ? 1.2 * std::exp(-0.5 * x * x) : 0;
            const double r = std::min(10.0, scale * tilde.v / (S * k2 * d2)),
                         q = r + 0.3 * (std::pow(r, 6) - r);
            const double fw = q * std::pow(65 / (std::pow(q, 6) + 64), 1.0 / 6),
                         w1 = 0.1355 / k2 + 1.622 * 1.5;
            nu_source -= 0.1355 * (1 - ft2) * S * tilde.v -
                         scale * (w1 * fw - 0.1355 / k2 * ft2) * tilde.v * tilde.v / d2;
        }
        const Once conduction = (mu / gas.prandtl + mu_t / gas.turbulent_prandtl) / (gas.gamma - 1) * scale;
        const Once total = (mu + mu_t) * scale;
        const std::array<Once, 2> gradient[] = {m.u.d, m.v.d};
        const Once divergence = gradient[0][0] + gradient[1][1];
        for (int d = 0; d < 2; ++d) {
            const auto a = std::size_t(d);
            for (int e = 0; e < 2; ++e) {
                Once tau = gradient[e][a] + gradient[d][std::size_t(e)];
                if (d == e) tau = tau - 2.0 / 3 * divergence;
                tau = total * tau;
                flux[d][1 + e] = flux[d][1 + e] - tau;
                flux[d][3] = flux[d][3] - velocity[e] * tau;
            }
            flux[d][3] = flux[d][3] - conduction * T2.d[a];
        }
    }
    std::array<double, 5> source{};
    for (std::size_t c = 0; c < 4; ++c) source[c] = flux[0][c].d[0] + flux[1][c].d[1];
    source[4] = nu_source;
    return source;
}

struct Solved {
    double flow = 0, nu = 0;  // root of the mean square error of density, momentum and energy, and of nu~
    int steps = 0;
    bool converged = false;
};

/// The manufactured solution on n x n cells with exact ghosts, by implicit steps from a wrong start.
Solved solve_made(int n, const Scheme& scheme, double cfl = 50) {
    const Int3 cells{n, n, 1};
    Block<2> b(cells, wavy<2>(cells, 0.03));
    const auto exact = [](const Real3& x) {
        const auto m = made(x[0], x[1]);
        return Primitive<2, double>{m.rho, {m.u, m.v}, m.p};
    };
    b.set(b.around, exact);
    b.set(b.cells, [](const Real3&) { return Primitive<2, double>{1, {0.5, 0.3}, 1 / 1.4}; });
    std::vector<std::array<double, 5>> sources;
    strata::graph::for_each(b.around, [&](int i, int j, int k) {
        const Real3 x = b.centre_of(i, j, k);
        const bool own = b.cells.contains(Int3{i, j, k});
        b.nu.view()(i, j, k) = own ? 3 : made(x[0], x[1]).nu;
        if (own) b.distance.view()(i, j, k) = made(x[0], x[1]).distance;
        if (own) sources.push_back(made_source(x, scheme));
    });
    Solved found;
    double first = 0;
    for (found.steps = 1; found.steps <= 3000; ++found.steps) {
        b.compute(scheme);
        std::size_t at = 0;
        strata::graph::for_each(b.cells, [&](int i, int j, int k) {
            const double V = b.volume.view()(i, j, k);
            for (int c = 0; c < 4; ++c) b.mean.view()(i, j, k, c) -= V * sources[at][std::size_t(c)];
            if (scheme.turbulent()) b.nu_residual.view()(i, j, k) -= V * sources[at][4];
            ++at;
        });
        double norm = 0;
        for (int c = 0; c < 4; ++c) norm += square_sum(b.cells, b.volume.read(), b.mean.read(), c);
        if (scheme.turbulent()) norm += square_sum(b.cells, b.volume.read(), b.nu_residual.read(), 0);
        if (found.steps == 1) first = norm;
        if (norm < 1e-20 * first) {
            found.converged = true;
            break;
        }
        // Ghosts of the unknowns at the ends of the block are not looked at.
        if (b.step(scheme, {cfl, cfl, 0}).impossible > 0) return found;
    }
    strata::graph::for_each(b.cells, [&](int i, int j, int k) {
        const Real3 x = b.centre_of(i, j, k);
        const auto q = conserved<2, double>(exact(x), 1.4);
        const double parts[] = {q.rho, q.m[0], q.m[1], q.E};
        for (int c = 0; c < 4; ++c) found.flow += std::pow(b.q.view()(i, j, k, c) - parts[c], 2);
        found.nu += std::pow(b.nu.view()(i, j, k) - made(x[0], x[1]).nu, 2);
    });
    found.flow = std::sqrt(found.flow / (4.0 * n * n));
    found.nu = std::sqrt(found.nu / (1.0 * n * n));
    return found;
}

struct Orders {
    double flow, nu;
};
Orders orders(const Scheme& scheme) {
    const Solved coarse = solve_made(16, scheme), fine = solve_made(32, scheme);
    CAPTURE(coarse.steps, fine.steps, coarse.flow, fine.flow, coarse.nu, fine.nu);
    REQUIRE(coarse.converged);
    REQUIRE(fine.converged);
    return {std::log2(coarse.flow / fine.flow), std::log2(coarse.nu / fine.nu)};
}

Scheme made_scheme(Viscosity viscosity) {
    Scheme s;
    s.viscosity = viscosity;
    s.gas.mach = 0.5;
    s.gas.reynolds = 100;
    return s;
}

}  // namespace

TEST_CASE("manufactured solution of Euler's equations: implicit steps converge, order 2; first order 1") {
    Scheme s = made_scheme(Viscosity::none);
    CHECK(orders(s).flow > 1.9);
    s.muscl.first_order = true;
    CHECK(orders(s).flow == Approx(1).margin(0.15));
}

TEST_CASE("manufactured solution of the Navier-Stokes equations: order 2") {
    CHECK(orders(made_scheme(Viscosity::laminar)).flow > 1.9);
}

TEST_CASE(
    "manufactured solution with Spalart-Allmaras: order 2, in both forms; its advection of first order has "
    "order 1") {
    Scheme s = made_scheme(Viscosity::spalart_allmaras);
    s.gas.reynolds = 200;
    s.sa.second_order = true;
    for (const bool negative : {false, true}) {
        s.sa.negative = negative;
        const Orders o = orders(s);
        CHECK(o.flow > 1.9);
        CHECK(o.nu > 1.8);
    }
    s.sa.second_order = false;
    const Orders o = orders(s);
    CHECK(o.flow > 1.8);
    CHECK(o.nu == Approx(1).margin(0.25));
}
