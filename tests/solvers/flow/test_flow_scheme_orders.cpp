// Orders of accuracy of the flow solver's schemes, by exact and manufactured solutions. The sources of
// manufactured solutions are made by automatic differentiation (flow_made.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"
#include "tests/solvers/flow/flow_made.hpp"

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

struct Orders {
    double flow;
    std::array<double, 2> model;  // nu~, or k and omega
};
template <int Dim>
Orders orders(const Scheme& scheme, int n = Dim == 2 ? 16 : 8) {
    const Solved coarse = solve_made<Dim>(n, scheme), fine = solve_made<Dim>(2 * n, scheme);
    CAPTURE(coarse.steps, fine.steps, coarse.flow, fine.flow, coarse.model, fine.model);
    REQUIRE(coarse.converged);
    REQUIRE(fine.converged);
    return {std::log2(coarse.flow / fine.flow),
            {std::log2(coarse.model[0] / fine.model[0]), std::log2(coarse.model[1] / fine.model[1])}};
}

Scheme made_scheme(Viscosity viscosity) {
    Scheme s;
    s.viscosity = viscosity;
    s.gas.mach = 0.5;
    s.gas.reynolds = 100;
    return s;
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("manufactured solution of Euler's equations: implicit steps converge, order 2", "",
                       ((int Dim), Dim), 2, 3) {
    Scheme s = made_scheme(Viscosity::none);
    CHECK(orders<Dim>(s).flow > 1.9);
    s.low_mach = true;
    CHECK(orders<Dim>(s).flow > 1.9);
    s.low_mach = false, s.muscl.first_order = true;
    CHECK(orders<Dim>(s).flow == Approx(1).margin(0.2));
}

TEMPLATE_TEST_CASE_SIG("manufactured solution of the Navier-Stokes equations: order 2", "", ((int Dim), Dim),
                       2, 3) {
    CHECK(orders<Dim>(made_scheme(Viscosity::laminar)).flow > 1.9);
}

TEMPLATE_TEST_CASE_SIG(
    "manufactured solution with Spalart-Allmaras: order 2, in both forms; its advection of first order has "
    "order 1",
    "", ((int Dim), Dim), 2, 3) {
    Scheme s = made_scheme(Viscosity::spalart_allmaras);
    s.gas.reynolds = 200;
    s.sa.second_order = true;
    for (const bool negative : {false, true}) {
        s.sa.negative = negative;
        const Orders o = orders<Dim>(s);
        CHECK(o.flow > 1.9);
        CHECK(o.model[0] > 1.8);
    }
    s.sa.second_order = false;
    const Orders o = orders<Dim>(s);
    CHECK(o.flow > 1.8);
    CHECK(o.model[0] == Approx(1).margin(0.25));
}

TEMPLATE_TEST_CASE_SIG(
    "manufactured solution with Menter's model: order 2, in both forms; its advection of first order has "
    "order 1",
    "", ((int Dim), Dim), 2, 3) {
    Scheme s = made_scheme(Viscosity::sst);
    s.gas.reynolds = 200;
    s.sst.second_order = true;
    for (const bool vorticity : {false, true}) {
        s.sst.vorticity = vorticity;
        const Orders o = orders<Dim>(s, Dim == 2 ? 10 : 7);
        CHECK(o.flow > 1.85);
        CHECK(o.model[0] > 1.9);
        CHECK(o.model[1] > 1.9);
    }
    if constexpr (Dim == 2) {
        s.sst.second_order = false;
        const Orders o = orders<Dim>(s, Dim == 2 ? 10 : 7);
        CHECK(o.model[0] == Approx(1).margin(0.2));
        CHECK(o.model[1] == Approx(1).margin(0.2));
    }
}
