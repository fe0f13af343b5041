// The kernels of the flow solver alone: fluxes, free stream, limits, and what the values may depend on.
#include <algorithm>
#include <cmath>
#include <random>

#include "solvers/flow/scheme/muscl.hpp"
#include "solvers/flow/scheme/roe.hpp"
#include "solvers/flow/scheme/sa.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"

using namespace flow_test;

namespace {

constexpr double kGamma = 1.4;

template <int Dim>
Vector<Dim, double> direction(std::mt19937_64& dice) {
    std::uniform_real_distribution<double> some(-1, 1);
    Vector<Dim, double> n;
    for (auto& x : n) x = some(dice);
    return n;
}

template <int Dim>
Primitive<Dim, double> random_state(std::mt19937_64& dice) {
    std::uniform_real_distribution<double> some(0.3, 2);
    return {some(dice), direction<Dim>(dice), some(dice)};
}

template <int Dim>
double distance(const Conserved<Dim, double>& a, const Conserved<Dim, double>& b) {
    double most = std::max(std::abs(a.rho - b.rho), std::abs(a.E - b.E));
    for (std::size_t d = 0; d < Dim; ++d) most = std::max(most, std::abs(a.m[d] - b.m[d]));
    return most;
}

Scheme turbulent_scheme() {
    Scheme s;
    s.viscosity = Viscosity::spalart_allmaras;
    s.gas.mach = 0.5;
    s.gas.reynolds = 1e3;
    s.muscl.limiter = Limiter::van_albada;
    s.sa.second_order = true;
    return s;
}

/// A flow without symmetry, smooth.
template <int Dim>
void disturb(Block<Dim>& block) {
    block.set(block.around, [](const Real3& x) {
        Primitive<Dim, double> w;
        w.rho = 1 + 0.2 * std::sin(3 * x[0] + 2 * x[1] + x[2]);
        for (std::size_t d = 0; d < Dim; ++d)
            w.u[d] = 0.5 * std::cos(2 * x[0] - double(d) * x[1] + 0.5 * x[2]);
        w.p = 0.7 + 0.1 * std::cos(x[0] - 4 * x[1] + x[2]);
        return w;
    });
    strata::graph::for_each(block.around, [&](int i, int j, int k) {
        block.nu.view()(i, j, k) = 3 + 2 * std::sin(0.7 * i + 0.3 * j - 0.4 * k);
        block.nu.view()(i, j, k, 1) = 4 + std::sin(0.5 * i - 0.6 * j + 0.3 * k);
    });
    block.distance.fill(0.2);
}

}  // namespace

TEST_CASE("Roe's flux of equal states is the exact flux, in 2 and 3 dimensions") {
    std::mt19937_64 dice(1);
    for (int n = 0; n < 200; ++n) {
        const auto w = random_state<3>(dice);
        const auto s = direction<3>(dice);
        CHECK(distance(roe_flux<3, double>(w, w, s, kGamma, 0.1), convective_flux<3, double>(w, s, kGamma)) <
              1e-13);
        const auto v = random_state<2>(dice);
        const auto t = direction<2>(dice);
        CHECK(distance(roe_flux<2, double>(v, v, t, kGamma, 0), convective_flux<2, double>(v, t, kGamma)) <
              1e-13);
    }
}

TEST_CASE("Roe's flux is conservative: seen from the other side it has the other sign") {
    std::mt19937_64 dice(2);
    for (int n = 0; n < 200; ++n) {
        const auto l = random_state<3>(dice), r = random_state<3>(dice);
        const auto s = direction<3>(dice);
        auto f = roe_flux<3, double>(l, r, s, kGamma, 0.2);
        auto b = roe_flux<3, double>(r, l, {-s[0], -s[1], -s[2]}, kGamma, 0.2);
        b = {-b.rho, {-b.m[0], -b.m[1], -b.m[2]}, -b.E};
        CHECK(distance(f, b) < 1e-13);
    }
}

TEST_CASE("Roe's flux keeps a contact at rest, and a shock that stands") {
    const Primitive<2, double> l{1, {0, 0}, 0.7}, r{0.1, {0, 3}, 0.7};
    const auto contact = roe_flux<2, double>(l, r, {2, 0}, kGamma, 0);
    CHECK(std::abs(contact.rho) < 1e-15);
    CHECK(std::abs(contact.m[0] - 1.4) < 1e-15);
    CHECK(std::abs(contact.m[1]) < 1e-15);
    CHECK(std::abs(contact.E) < 1e-15);

    // Rankine and Hugoniot at Mach 2: density 8/3, pressure 4.5.
    const double a = std::sqrt(kGamma * 0.7);
    const Primitive<2, double> before{1, {2 * a, 0}, 0.7}, behind{8.0 / 3, {2 * a / (8.0 / 3), 0}, 4.5 * 0.7};
    const auto shock = roe_flux<2, double>(before, behind, {1, 0}, kGamma, 0);
    CHECK(distance(shock, convective_flux<2, double>(before, {1, 0}, kGamma)) < 1e-13);
    CHECK(distance(shock, convective_flux<2, double>(behind, {1, 0}, kGamma)) < 1e-13);
    // Supersonic flow takes the state it comes from.
    const Primitive<2, double> fast{1, {3, 0.5}, 0.7}, other{1.1, {2.8, 0}, 0.8};
    CHECK(distance(roe_flux<2, double>(fast, other, {1, 0}, kGamma, 0),
                   convective_flux<2, double>(fast, {1, 0}, kGamma)) < 1e-13);
}

TEST_CASE("Rieper's form smooths velocities by their own speed, and is Roe's where flow is fast") {
    const double speed = 0.01;
    const Primitive<2, double> l{1, {speed, 0}, 1 / kGamma}, r{1, {1.5 * speed, 0}, 1 / kGamma};
    const auto middle = [&] {
        auto a = convective_flux<2, double>(l, {1, 0}, kGamma),
             b = convective_flux<2, double>(r, {1, 0}, kGamma);
        return 0.5 * (a.m[0] + b.m[0]);
    }();
    const double plain = roe_flux<2, double>(l, r, {1, 0}, kGamma, 0).m[0] - middle,
                 low = roe_flux<2, double>(l, r, {1, 0}, kGamma, 0, true).m[0] - middle;
    CHECK(plain == Approx(-0.5 * 0.5 * speed).epsilon(0.05));  // a / 2 times the jump
    CHECK(low / plain == Approx(1.25 * speed).epsilon(0.5));   // and times the Mach number
    std::mt19937_64 dice(5);
    for (int n = 0; n < 200; ++n) {
        auto a = random_state<3>(dice), b = random_state<3>(dice);
        const auto s = direction<3>(dice);
        const auto f = roe_flux<3, double>(a, b, s, kGamma, 0, true);
        const auto g = roe_flux<3, double>(b, a, {-s[0], -s[1], -s[2]}, kGamma, 0, true);
        CHECK(distance(f, {-g.rho, {-g.m[0], -g.m[1], -g.m[2]}, -g.E}) < 1e-13);
        CHECK(distance(roe_flux<3, double>(a, a, s, kGamma, 0, true),
                       convective_flux<3, double>(a, s, kGamma)) < 1e-13);
        a.u[0] += 20, b.u[0] += 20;
        CHECK(distance(roe_flux<3, double>(a, b, s, kGamma, 0, true),
                       roe_flux<3, double>(a, b, s, kGamma, 0)) < 1e-12);
    }
}

TEST_CASE("the entropy fix opens an expansion shock that Roe's flux keeps") {
    const double a = std::sqrt(kGamma * 0.7);
    const Primitive<2, double> before{8.0 / 3, {2 * a / (8.0 / 3), 0}, 4.5 * 0.7}, behind{1, {2 * a, 0}, 0.7};
    const auto kept = roe_flux<2, double>(before, behind, {1, 0}, kGamma, 0);
    const auto opened = roe_flux<2, double>(before, behind, {1, 0}, kGamma, 0.3);
    CHECK(distance(kept, convective_flux<2, double>(before, {1, 0}, kGamma)) < 1e-13);
    CHECK(distance(kept, opened) > 0.01);
}

TEST_CASE("the product with the Jacobian is the derivative of the flux") {
    std::mt19937_64 dice(3);
    for (int n = 0; n < 50; ++n) {
        const auto w = random_state<3>(dice), v = random_state<3>(dice);
        const auto s = direction<3>(dice);
        const auto q = conserved<3, double>(w, kGamma), dq = conserved<3, double>(v, kGamma);
        const double e = 1e-5;
        const auto moved = [&](double by) {
            Conserved<3, double> at{q.rho + by * dq.rho, {}, q.E + by * dq.E};
            for (std::size_t d = 0; d < 3; ++d) at.m[d] = q.m[d] + by * dq.m[d];
            return convective_flux<3, double>(primitive(at, kGamma), s, kGamma);
        };
        const auto up = moved(e), down = moved(-e);
        Conserved<3, double> slope{(up.rho - down.rho) / (2 * e), {}, (up.E - down.E) / (2 * e)};
        for (std::size_t d = 0; d < 3; ++d) slope.m[d] = (up.m[d] - down.m[d]) / (2 * e);
        const double H = (q.E + w.p) / q.rho;
        CHECK(distance(flux_change<3, double>(w.u, H, dq, s, kGamma), slope) < 1e-7);
    }
}

TEST_CASE("limiters: exact for equal slopes, none at extrema, symmetric") {
    for (const double slope : {-2.0, 0.5}) {
        CHECK(to_face<Limiter::none>(slope, slope, 1.0 / 3) == Approx(slope / 2));
        CHECK(to_face<Limiter::minmod>(slope, slope, 1.0 / 3) == Approx(slope / 2));
        CHECK(to_face<Limiter::van_albada>(slope, slope, 1.0 / 3) == Approx(slope / 2));
        CHECK(to_face<Limiter::van_leer>(slope, slope, 1.0 / 3) == Approx(slope / 2));
        CHECK(to_face<Limiter::minmod>(slope, -0.7 * slope, 1.0 / 3) == 0);
        CHECK(to_face<Limiter::van_albada>(slope, -0.7 * slope, 1.0 / 3) == 0);
        CHECK(to_face<Limiter::van_leer>(slope, -0.7 * slope, 1.0 / 3) == 0);
        // No new extremum: the face does not lie beyond the next cell, nor further than the steep side
        // allows.
        CHECK(std::abs(to_face<Limiter::minmod>(10 * slope, slope, 1.0 / 3)) <= std::abs(slope));
        CHECK(std::abs(to_face<Limiter::van_leer>(10 * slope, slope, 1.0 / 3)) <= std::abs(slope));
    }
}

TEMPLATE_TEST_CASE_SIG("a uniform flow is kept on a wavy grid by all schemes", "", ((int Dim), Dim), 2, 3) {
    const Int3 n = Dim == 2 ? Int3{37, 21, 1} : Int3{13, 11, 9};
    Block<Dim> block(n, wavy<Dim>(n, 0.04));
    Primitive<Dim, double> free{1, {}, 1 / kGamma};
    for (std::size_t d = 0; d < Dim; ++d) free.u[d] = 0.8 - 0.3 * double(d);
    block.set(block.around, [&](const Real3&) { return free; });
    block.nu.fill(3);
    for (const Viscosity viscosity :
         {Viscosity::none, Viscosity::laminar, Viscosity::spalart_allmaras, Viscosity::sst})
        for (const Limiter limiter :
             {Limiter::none, Limiter::minmod, Limiter::van_albada, Limiter::van_leer}) {
            Scheme s = turbulent_scheme();
            s.viscosity = viscosity;
            s.muscl.limiter = limiter;
            s.sa.with_source = s.sst.with_source = false;
            block.mean.fill(std::nan(""));
            block.compute(s);
            double most = 0, most_nu = 0;
            strata::graph::for_each(block.cells, [&](int i, int j, int k) {
                for (int c = 0; c < Dim + 2; ++c)
                    most = std::max(most,
                                    std::abs(block.mean.view()(i, j, k, c)) / block.volume.view()(i, j, k));
                for (int m = 0; m < s.model_equations(); ++m)
                    most_nu = std::max(most_nu, std::abs(block.nu_residual.view()(i, j, k, m)) /
                                                    block.volume.view()(i, j, k));
            });
            CHECK(most < 1e-12);
            CHECK(most_nu < 1e-12);
        }
}

TEMPLATE_TEST_CASE_SIG("residuals do not depend on the boxes they are computed in: same bits", "",
                       ((int Dim), Dim), 2, 3) {
    // 150 cells along x: two tiles; parts of 1, 7 and 8 cells.
    const Int3 n = Dim == 2 ? Int3{150, 19, 1} : Int3{21, 19, 6};
    Block<Dim> block(n, wavy<Dim>(n, 0.02));
    disturb(block);
    for (const Viscosity viscosity : {Viscosity::none, Viscosity::spalart_allmaras, Viscosity::sst}) {
        Scheme s = turbulent_scheme();
        s.viscosity = viscosity;
        block.compute(s);
        Values mean(block.cells, Dim + 2), nu(block.cells, 2), slope(block.cells, 2);
        const int xs[] = {0, 1, 8, 16, n[0]}, ys[] = {0, 3, n[1]}, zs[] = {0, Dim == 3 ? 2 : 1, n[2]};
        for (int c = 0; c + 1 < (Dim == 3 ? 3 : 2); ++c)
            for (int b = 0; b < 2; ++b)
                for (int a = 0; a < 4; ++a)
                    residual<Dim>({{xs[a], ys[b], zs[c]}, {xs[a + 1], ys[b + 1], zs[c + 1]}}, block.patch(),
                                  s, mean.view(), nu.view(), slope.view());
        bool same = true;
        strata::graph::for_each(block.cells, [&](int i, int j, int k) {
            for (int c = 0; c < Dim + 2; ++c)
                same = same && mean.view()(i, j, k, c) == block.mean.view()(i, j, k, c);
            for (int m = 0; m < s.model_equations(); ++m)
                same = same && nu.view()(i, j, k, m) == block.nu_residual.view()(i, j, k, m) &&
                       slope.view()(i, j, k, m) == block.nu_inverse.view()(i, j, k, m);
        });
        CHECK(same);
    }
}

namespace {

/// The sweeps as the header states them, point by point.
template <int Dim>
void plain_sweeps(Block<Dim>& b, const Scheme& s) {
    const auto q = [&](const Int3& at) {
        Conserved<Dim, double> v{
            b.q.read()(at[0], at[1], at[2], 0), {}, b.q.read()(at[0], at[1], at[2], Dim + 1)};
        for (int d = 0; d < Dim; ++d) v.m[std::size_t(d)] = b.q.read()(at[0], at[1], at[2], d + 1);
        return v;
    };
    const auto dq = [&](const Int3& at) {
        Conserved<Dim, double> v{
            b.mean.read()(at[0], at[1], at[2], 0), {}, b.mean.read()(at[0], at[1], at[2], Dim + 1)};
        for (int d = 0; d < Dim; ++d) v.m[std::size_t(d)] = b.mean.read()(at[0], at[1], at[2], d + 1);
        return v;
    };
    for (const bool forward : {true, false})
        for (int z = 0; z < b.cells.hi[2]; ++z)
            for (int y = 0; y < b.cells.hi[1]; ++y)
                for (int x = 0; x < b.cells.hi[0]; ++x) {
                    const Int3 at =
                        forward ? Int3{x, y, z}
                                : Int3{b.cells.hi[0] - 1 - x, b.cells.hi[1] - 1 - y, b.cells.hi[2] - 1 - z};
                    const auto own = primitive(q(at), kGamma);
                    Conserved<Dim, double> sum{0, {}, 0};
                    std::array<double, 2> nu_sum{};
                    for (std::size_t axis = 0; axis < Dim; ++axis) {
                        Int3 before = at, face = at;
                        before[axis] += forward ? -1 : 1;
                        if (!forward) ++face[axis];
                        if (!b.cells.contains(before)) continue;
                        Vector<Dim, double> S;
                        for (int d = 0; d < Dim; ++d)
                            S[std::size_t(d)] = b.faces[axis].read()(face[0], face[1], face[2], d);
                        const auto w = primitive(q(before), kGamma);
                        const auto change = dq(before);
                        const double H = (q(before).E + w.p) / w.rho, a = std::sqrt(kGamma * w.p / w.rho);
                        const auto f = flux_change<Dim, double>(w.u, H, change, S, kGamma);
                        double r = std::abs(dot(w.u, S)) + a * std::sqrt(dot(S, S));
                        if (s.viscous())
                            r += 2 * b.viscosity.read()(before[0], before[1], before[2]) * dot(S, S);
                        const double sign = forward ? 1 : -1;
                        sum.rho += 0.5 * (sign * f.rho + r * change.rho);
                        for (std::size_t d = 0; d < Dim; ++d)
                            sum.m[d] += 0.5 * (sign * f.m[d] + r * change.m[d]);
                        sum.E += 0.5 * (sign * f.E + r * change.E);
                        for (int m = 0; m < s.model_equations(); ++m)
                            nu_sum[std::size_t(m)] +=
                                (std::max(sign * dot(own.u, S), 0.0) +
                                 b.viscosity.read()(at[0], at[1], at[2], 2 * m + 1) * dot(S, S)) *
                                b.nu_residual.read()(before[0], before[1], before[2], m);
                    }
                    const double over = b.inverse.read()(at[0], at[1], at[2]);
                    const auto solve = [&](double& value, double part, double inverse) {
                        value = forward ? inverse * (part - value) : value + inverse * part;
                    };
                    const auto v = b.mean.view();
                    solve(v(at[0], at[1], at[2], 0), sum.rho, over);
                    for (int d = 0; d < Dim; ++d)
                        solve(v(at[0], at[1], at[2], d + 1), sum.m[std::size_t(d)], over);
                    solve(v(at[0], at[1], at[2], Dim + 1), sum.E, over);
                    for (int m = 0; m < s.model_equations(); ++m)
                        solve(b.nu_residual.view()(at[0], at[1], at[2], m), nu_sum[std::size_t(m)],
                              b.nu_inverse.read()(at[0], at[1], at[2], m));
                }
}

}  // namespace

TEMPLATE_TEST_CASE_SIG(
    "sweeps in lanes give what the formula gives point by point, with any patches the same bits", "",
    ((int Dim), Dim), 2, 3) {
    const Int3 n = Dim == 2 ? Int3{29, 21, 1} : Int3{18, 11, 7};
    Block<Dim> block(n, wavy<Dim>(n, 0.03));
    disturb(block);
    for (const Viscosity viscosity :
         {Viscosity::none, Viscosity::laminar, Viscosity::spalart_allmaras, Viscosity::sst}) {
        Scheme s = turbulent_scheme();
        s.viscosity = viscosity;
        block.compute(s);
        block.diagonal(s, {5, 3, 0.1});
        const Values before = block.mean, nu_before = block.nu_residual;
        block.sweeps(s, block.cells);
        const Values whole = block.mean, nu_whole = block.nu_residual;

        block.mean = before, block.nu_residual = nu_before;
        plain_sweeps(block, s);
        double most = 0, largest = 0;
        strata::graph::for_each(block.cells, [&](int i, int j, int k) {
            for (int c = 0; c < Dim + 2; ++c) {
                const double exact = block.mean.view()(i, j, k, c);
                largest = std::max(largest, std::abs(exact));
                most = std::max(most, std::abs(whole.read()(i, j, k, c) - exact));
            }
            for (int m = 0; m < s.model_equations(); ++m)
                most = std::max(most,
                                std::abs(nu_whole.read()(i, j, k, m) - block.nu_residual.view()(i, j, k, m)));
        });
        CHECK(largest > 1e-3);
        CHECK(most < 1e-12);

        for (const Int3& size : {Int3{8, 8, 3}, Int3{5, 3, 2}, Int3{40, 1, 1}, Int3{1, 40, 4}}) {
            block.mean = before, block.nu_residual = nu_before;
            block.sweeps(s, {{0, 0, 0}, size});
            bool same = true;
            strata::graph::for_each(block.cells, [&](int i, int j, int k) {
                for (int c = 0; c < Dim + 2; ++c)
                    same = same && whole.read()(i, j, k, c) == block.mean.view()(i, j, k, c);
                for (int m = 0; m < s.model_equations(); ++m)
                    same = same && nu_whole.read()(i, j, k, m) == block.nu_residual.view()(i, j, k, m);
            });
            CHECK(same);
        }
    }
}

TEST_CASE("update limits what changes too much, and tells of impossible states") {
    const Int3 n{9, 2, 1};
    Block<2> block(n, wavy<2>(n, 0));
    block.set(block.around, [](const Real3&) { return Primitive<2, double>{1, {0.1, 0}, 1 / kGamma}; });
    block.mean.fill(0);
    Scheme s;
    block.mean.view()(3, 1, 0, 0) = -5;
    UpdateCount count =
        update<2>(block.cells, s, 0.2, block.mean.read(), no_field(), block.q.view(), no_result());
    CHECK(count.limited == 1);
    CHECK(count.impossible == 0);
    CHECK(count.first == Int3{3, 1, 0});
    CHECK(block.q.view()(3, 1, 0, 0) == Approx(0.8));
    CHECK(block.q.view()(2, 1, 0, 0) == 1);
    block.mean.view()(3, 1, 0, 0) = 0;
    block.mean.view()(8, 0, 0, 3) = std::nan("");
    count = update<2>(block.cells, s, 0.2, block.mean.read(), no_field(), block.q.view(), no_result());
    CHECK(count.impossible == 1);
    CHECK(count.first == Int3{8, 0, 0});
}

TEST_CASE("roots are right to a few units in the last place") {
    for (double x = 1e-30; x < 1e36; x *= 1.37) {
        CHECK(std::abs(strata::over_root(broadcast(x))[3] * std::sqrt(x) - 1) < 6e-16);
        CHECK(std::abs(strata::over_sixth_root(broadcast(x))[3] * std::pow(x, 1.0 / 6) - 1) < 1.5e-15);
    }
    CHECK(strata::over_root(Lanes{})[0] * 0.0 == 0);
}

TEST_CASE("eddy viscosity and the source of Spalart-Allmaras are those of the papers") {
    // fv1(10) = 1000 / (1000 + 357.911).
    CHECK(sa::eddy(broadcast(10))[0] == Approx(10 * 1000 / 1357.911));
    CHECK(sa::eddy(broadcast(-10))[0] == 0);
    // Point by point with the C library's functions.
    const double nu = 1.3, vorticity = 40, distance = 0.02, scale = 1e-4;
    for (const bool ft2 : {false, true})
        for (const double nu_tilde : {0.5, 5.0, 60.0}) {
            SpalartAllmaras form;
            form.ft2 = ft2;
            const double chi = nu_tilde / nu, cube = chi * chi * chi, fv1 = cube / (cube + std::pow(7.1, 3));
            const double fv2 = 1 - chi / (1 + chi * fv1), k2d2 = 0.41 * 0.41 * distance * distance;
            const double S = std::max(vorticity + scale * nu_tilde / k2d2 * fv2, 0.3 * vorticity);
            const double t2 = ft2 ? 1.2 * std::exp(-0.5 * chi * chi) : 0;
            const double r = std::min(10.0, scale * nu_tilde / (S * k2d2)),
                         g = r + 0.3 * (std::pow(r, 6) - r);
            const double fw = g * std::pow((1 + 64) / (std::pow(g, 6) + 64), 1.0 / 6);
            const double w1 = 0.1355 / (0.41 * 0.41) + 1.622 * 1.5;
            const double expected =
                0.1355 * (1 - t2) * S * nu_tilde -
                scale * (w1 * fw - 0.1355 / (0.41 * 0.41) * t2) * nu_tilde * nu_tilde / (distance * distance);
            const sa::Source<Lanes> s = sa::source(broadcast(nu_tilde), broadcast(nu_tilde / nu),
                                                   broadcast(vorticity), broadcast(distance), scale, form);
            CHECK(s.value[5] == Approx(expected).epsilon(1e-12));
            CHECK(s.slope[5] >= 0);
        }
    // Where no wall is, production with the vorticity is left: cb1 (1 - ft2) |vorticity| nu~.
    for (const bool below : {false, true})
        for (const double turning : {0.0, 1e-20, vorticity})
            for (const double nu_tilde : {0.0, 0.5, 60.0}) {
                SpalartAllmaras form;
                form.negative = below;
                const double chi = nu_tilde / nu, t2 = form.ft2 ? 1.2 * std::exp(-0.5 * chi * chi) : 0;
                const sa::Source<Lanes> s =
                    sa::source(broadcast(nu_tilde), broadcast(chi), broadcast(turning),
                               broadcast(kFarFromWalls), scale, form);
                CHECK(s.value[5] == Approx(0.1355 * (1 - t2) * turning * nu_tilde).margin(1e-24));
                CHECK(s.slope[5] >= 0);
                CHECK(s.slope[5] <= 0.1355 * 0.2 * turning + 1e-24);
            }
    // Negative nu~ grows towards zero, and both branches meet there.
    SpalartAllmaras negative;
    negative.negative = true;
    const auto value = [&](double nu_tilde) {
        return sa::source(broadcast(nu_tilde), broadcast(nu_tilde / nu), broadcast(vorticity),
                          broadcast(distance), scale, negative)
            .value[0];
    };
    CHECK(value(-2) > 0);
    CHECK(value(-1e-9) == Approx(0.1355 * 0.2 * vorticity * 1e-9).epsilon(1e-4));
    CHECK(value(1e-9) == Approx(-0.1355 * 0.2 * vorticity * 1e-9).epsilon(1e-4));
    CHECK(sa::diffusivity(broadcast(-1), true)[0] == Approx(1 - 15.0 / 17));
}
