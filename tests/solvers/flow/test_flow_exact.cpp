// The exact solutions that the flow solver is compared with: against tables, and against their own equations.
#include <cmath>
#include <string>

#include "solvers/flow/exact.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata::flow;
using strata::tests::has;
using strata::tests::refusal;

TEST_CASE("Riemann problems have the star states of Toro's tables 4.2 and 4.3") {
    struct Row {
        GasState left, right;
        double p, u, rho_left, rho_right;
    };
    const std::vector<Row> rows{
        {{1, 0, 1}, {0.125, 0, 0.1}, 0.30313, 0.92745, 0.42632, 0.26557},
        {{1, -2, 0.4}, {1, 2, 0.4}, 0.00189, 0, 0.02185, 0.02185},
        {{1, 0, 1000}, {1, 0, 0.01}, 460.894, 19.5975, 0.57506, 5.99924},
        {{1, 0, 0.01}, {1, 0, 100}, 46.0950, -6.19633, 5.99242, 0.57511},
        {{5.99924, 19.5975, 460.894}, {5.99242, -6.19633, 46.0950}, 1691.64, 8.68975, 14.2823, 31.0426}};
    for (const Row& row : rows) {
        const RiemannProblem problem(row.left, row.right);
        CAPTURE(row.p);
        CHECK(problem.star_pressure() == Approx(row.p).epsilon(3e-5).margin(5e-6));
        CHECK(problem.star_velocity() == Approx(row.u).epsilon(3e-5).margin(5e-6));
        const double u = problem.star_velocity(), near = 1e-9 * (1 + std::abs(u));
        CHECK(problem.at(u - near).rho == Approx(row.rho_left).epsilon(3e-5).margin(5e-6));
        CHECK(problem.at(u + near).rho == Approx(row.rho_right).epsilon(3e-5).margin(5e-6));
    }
}

TEST_CASE("a Riemann solution keeps mass, momentum and energy") {
    const auto conserved = [](const GasState& s) {
        return std::array<double, 3>{s.rho, s.rho * s.u, s.p / 0.4 + 0.5 * s.rho * s.u * s.u};
    };
    const auto flux = [](const GasState& s) {
        const double E = s.p / 0.4 + 0.5 * s.rho * s.u * s.u;
        return std::array<double, 3>{s.rho * s.u, s.rho * s.u * s.u + s.p, (E + s.p) * s.u};
    };
    for (const RiemannProblem& problem : {sod(), lax(), RiemannProblem({1, 0, 0.01}, {1, 0, 100})}) {
        // Over -L to L at time 1: what was there, and what came through the ends.
        constexpr double L = 20;
        constexpr int n = 400000;
        const GasState left = problem.at(-L), right = problem.at(L);
        std::array<double, 3> sum{};
        for (int i = 0; i < n; ++i) {
            const auto q = conserved(problem.at(-L + (i + 0.5) * 2 * L / n));
            for (std::size_t c = 0; c < 3; ++c) sum[c] += q[c] * 2 * L / n;
        }
        for (std::size_t c = 0; c < 3; ++c) {
            const double expected =
                L * (conserved(left)[c] + conserved(right)[c]) + flux(left)[c] - flux(right)[c];
            CHECK(sum[c] == Approx(expected).epsilon(2e-5).margin(2e-4 * conserved(right)[2]));
        }
    }
}

TEST_CASE("states that leave a vacuum, or are none, are refused") {
    CHECK(has(refusal([] { RiemannProblem({1, -20, 1}, {1, 20, 1}); }), "vacuum"));
    CHECK(has(refusal([] { RiemannProblem({1, 0, 1}, {1, 0, -1}); }), "the right state"));
}

TEST_CASE("the isentropic vortex is a steady flow that moves along") {
    const IsentropicVortex vortex{
        .strength = 2, .radius = 0.7, .centre = {1, 2, 0}, .velocity = {0.5, 0.25, 0}};
    const Real3 period{10, 10, 0};
    const auto at = [&](double x, double y, double t) { return vortex.at({x, y, 0}, t, period); };
    // Euler's equations by central differences: d rho / dt + div(rho u) and the momentum's along x.
    const double h = 1e-4;
    for (const auto& [x, y] : {std::pair(1.3, 2.4), std::pair(0.2, 1.9), std::pair(1.0, 2.7)}) {
        const auto change = [&](auto value) {
            const double t = 0.3, X = x + 0.15, Y = y + 0.075;
            return std::array<double, 3>{(value(at(X, Y, t + h), 3) - value(at(X, Y, t - h), 3)) / (2 * h),
                                         (value(at(X + h, Y, t), 1) - value(at(X - h, Y, t), 1)) / (2 * h),
                                         (value(at(X, Y + h, t), 2) - value(at(X, Y - h, t), 2)) / (2 * h)};
        };
        const auto mass = change(
            [](const std::array<double, 4>& s, int c) { return c == 3 ? s[0] : s[0] * s[std::size_t(c)]; });
        CHECK(std::abs(mass[0] + mass[1] + mass[2]) < 1e-7);
        CHECK(std::abs(mass[0]) > 1e-3);
        const auto momentum = change([](const std::array<double, 4>& s, int c) {
            return c == 3 ? s[0] * s[1] : s[0] * s[1] * s[std::size_t(c)] + (c == 1 ? s[3] : 0);
        });
        CHECK(std::abs(momentum[0] + momentum[1] + momentum[2]) < 1e-7);
    }
    const auto first = at(1.2, 2.3, 0), later = at(1.2 + 0.5 * 20, 2.3 + 0.25 * 20, 20);
    for (std::size_t c = 0; c < 4; ++c) CHECK(later[c] == Approx(first[c]).epsilon(1e-12));
    CHECK(at(6, 7, 0)[0] == Approx(1).epsilon(1e-12));  // far from it
}

TEST_CASE("Blasius' profile solves its equation and has the known shear") {
    const Blasius layer;
    CHECK(layer.shear() == Approx(0.332057336215).epsilon(1e-10));
    CHECK(layer.friction(1e6) == Approx(0.664114672e-3).epsilon(1e-8));
    CHECK(layer.u(0) == 0);
    CHECK(layer.u(20) == 1);
    CHECK(layer.u(4.9099895) == Approx(0.99).epsilon(1e-5));  // the thickness
    CHECK(layer.v(30) == Approx(0.8603939).epsilon(1e-6));    // half of the displacement, 1.7207878
    const double h = 1e-3;
    for (double eta = 0.25; eta < 8; eta += 0.25) {
        const double f = eta * layer.u(eta) - 2 * layer.v(eta);
        const double second = (layer.u(eta + h) - layer.u(eta - h)) / (2 * h);
        const double third = (layer.u(eta + h) - 2 * layer.u(eta) + layer.u(eta - h)) / (h * h);
        CHECK(std::abs(third + 0.5 * f * second) < 1e-6);
    }
}

TEST_CASE("compressible Couette flow has one stress, and heat leaves as it is made") {
    const Couette flow(2.5, 1, 1.3);
    CHECK(flow.u(0) == Approx(0).margin(1e-14));
    CHECK(flow.u(1) == Approx(2.5).epsilon(1e-12));
    const auto mu = [](double T) { return std::pow(T, 1.5) * (1 + 110.33 / 288.15) / (T + 110.33 / 288.15); };
    const double h = 1e-4;
    const auto T = [&](double y) { return flow.temperature(flow.u(y)); };
    for (double y = 0.1; y < 0.95; y += 0.1) {
        CHECK(mu(T(y)) * (flow.u(y + h) - flow.u(y - h)) / (2 * h) == Approx(flow.stress()).epsilon(1e-6));
        const auto heat = [&](double at) {
            return mu(T(at)) / (0.72 * 0.4) * (T(at + h) - T(at - h)) / (2 * h);
        };
        const double made = flow.stress() * (flow.u(y + h) - flow.u(y - h)) / (2 * h);
        CHECK((heat(y + h) - heat(y - h)) / (2 * h) == Approx(-made).epsilon(1e-4));
    }
    CHECK(Couette(1e-6, 1, 1).u(0.3) == Approx(0.3e-6).epsilon(1e-9));  // slow: a straight line
}
