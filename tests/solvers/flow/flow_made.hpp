// A manufactured flow, and what has to be added to each equation for it: made by automatic differentiation of
// the equations as they stand in papers, apart from the solver's code.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/solvers/flow/flow_block.hpp"
#include "tests/solvers/flow/flow_dual.hpp"

namespace flow_test {

/// Density, velocity, pressure, nu~, k and omega, and the distance from a wall, smooth and without symmetry.
template <int Dim, class T>
struct Made {
    T rho;
    std::array<T, static_cast<std::size_t>(Dim)> u;
    T p, nu, k, omega, distance;
};
template <int Dim, class T>
Made<Dim, T> made(const std::array<T, static_cast<std::size_t>(Dim)>& at) {
    using std::cos, std::sin;
    const T &x = at[0], &y = at[1];
    Made<Dim, T> m;
    m.rho = 1.0 + 0.1 * sin(1.7 * x + 0.3) * cos(1.1 * y);
    m.u[0] = 0.3 + 0.5 * y + 0.1 * cos(1.3 * x - 0.9 * y);
    m.u[1] = 0.3 + 0.1 * sin(0.8 * x + 1.6 * y);
    m.p = (1.0 + 0.15 * cos(1.5 * x) * sin(1.2 * y + 0.4)) / 1.4;
    m.nu = 3.0 + 1.0 * sin(0.9 * x + 0.5) + 0.8 * cos(0.7 * y + 1.0);
    m.k = 0.3 + 0.05 * sin(1.8 * x + 0.2) + 0.04 * cos(2.1 * y + 0.4);
    m.omega = 1.8 + 0.3 * cos(1.9 * x + 0.4) + 0.25 * sin(2.2 * y + 1.9);
    m.distance = 1.0 + 0.4 * y + 0.1 * x;
    if constexpr (Dim == 3) {
        const T& z = at[2];
        m.rho = m.rho + 0.06 * sin(1.4 * z + 0.2 * x);
        m.u[0] = m.u[0] + 0.15 * cos(1.1 * z + 0.4 * y);
        m.u[1] = m.u[1] + 0.1 * sin(0.9 * z - 0.5 * x);
        m.u[2] = 0.2 + 0.3 * z + 0.1 * sin(1.2 * x - 0.7 * y + 0.8 * z);
        m.p = m.p + 0.06 * sin(1.3 * z + 0.5);
        m.nu = m.nu + 0.6 * sin(1.0 * z + 0.3 * x);
        m.k = m.k + 0.03 * cos(1.7 * z + 0.2 * y);
        m.omega = m.omega + 0.1 * sin(1.7 * z + 0.4 * x);
        m.distance = m.distance + 0.05 * z;
    }
    return m;
}
template <int Dim>
Made<Dim, double> made_at(const Real3& x) {
    std::array<double, static_cast<std::size_t>(Dim)> at;
    for (std::size_t d = 0; d < Dim; ++d) at[d] = x[d];
    return made<Dim>(at);
}

/// What a model says of a manufactured flow: its eddy viscosity, and what has to be added to its equations,
/// one of nu~ or two of k and omega: advection less diffusion and sources.
template <int Dim>
struct Model {
    Once<Dim> mu_t{0.0};
    std::array<double, 2> source{};
};

/// Spalart and Allmaras 1994.
template <int Dim>
Model<Dim> made_sa(const Made<Dim, Twice<Dim>>& m, const Once<Dim>& mu, const Scheme& scheme) {
    constexpr std::size_t D = Dim;
    using One = Once<Dim>;
    const double scale = scheme.gas.viscous_scale();
    Model<Dim> made;
    const One rho = m.rho.v, nu = mu / rho, tilde = m.nu.v, chi = tilde / nu, cube = chi * chi * chi;
    made.mu_t = rho * tilde * cube / (cube + 357.911);
    const auto& g = m.nu.d;
    const One all = nu + tilde;
    double diffusion = 0, laplace = 0, turning = 0, source = 0;
    for (std::size_t d = 0; d < D; ++d) {
        diffusion += 1.622 * (all * g[d]).d[d];
        laplace += g[d].d[d];
        source += m.u[d].v.v * g[d].v;
        for (std::size_t e = 0; e < d; ++e) turning += std::pow(m.u[d].d[e].v - m.u[e].d[d].v, 2);
    }
    diffusion -= 0.622 * all.v * laplace;
    source -= scale * 1.5 * diffusion;
    turning = std::sqrt(turning);
    const double x = chi.v, d2 = m.distance.v.v * m.distance.v.v, k2 = 0.41 * 0.41;
    const double fv1 = cube.v / (cube.v + 357.911), fv2 = 1 - x / (1 + x * fv1);
    const double S = std::max(turning + scale * tilde.v * fv2 / (k2 * d2), scheme.sa.clip * turning);
    const double ft2 = scheme.sa.ft2 ? 1.2 * std::exp(-0.5 * x * x) : 0;
    const double r = std::min(10.0, scale * tilde.v / (S * k2 * d2)), q = r + 0.3 * (std::pow(r, 6) - r);
    const double fw = q * std::pow(65 / (std::pow(q, 6) + 64), 1.0 / 6), w1 = 0.1355 / k2 + 1.622 * 1.5;
    made.source[0] = source - (0.1355 * (1 - ft2) * S * tilde.v -
                               scale * (w1 * fw - 0.1355 / k2 * ft2) * tilde.v * tilde.v / d2);
    return made;
}

/// Menter's model sees walls further away: there F1 is between its layers, and the cross diffusion counts.
constexpr double kFurther = 3;

/// Menter 1994, equations 1 to 4 and A1 to A13; production by vorticity or, without k, by the stresses. In
/// units of the far field mu_t is larger by 1 / (Mach / Re).
template <int Dim>
Model<Dim> made_sst(const Made<Dim, Twice<Dim>>& m, const Once<Dim>& mu, const Scheme& scheme) {
    constexpr std::size_t D = Dim;
    using One = Once<Dim>;
    const auto larger = [](const One& a, const One& b) { return a.v > b.v ? a : b; };
    const auto smaller = [](const One& a, const One& b) { return a.v < b.v ? a : b; };
    const double scale = scheme.gas.viscous_scale();
    const One rho = m.rho.v, k = m.k.v, omega = m.omega.v, y = kFurther * m.distance.v, nu = scale * mu / rho;
    One vorticity = 0.0, strain = 0.0, divergence = 0.0, cross = 0.0;
    for (std::size_t d = 0; d < D; ++d) {
        divergence = divergence + m.u[d].d[d];
        cross = cross + m.k.d[d] * m.omega.d[d];
        strain = strain + 2.0 * m.u[d].d[d] * m.u[d].d[d];
        for (std::size_t e = 0; e < d; ++e) {
            const One turned = m.u[d].d[e] - m.u[e].d[d], sheared = m.u[d].d[e] + m.u[e].d[d];
            vorticity = vorticity + turned * turned, strain = strain + sheared * sheared;
        }
    }
    const One rate = scheme.sst.vorticity ? vorticity : strain - 2.0 / 3 * divergence * divergence;
    const One turbulent = sqrt(k) / (0.09 * omega * y), viscous = 500.0 * nu / (y * y * omega);
    const One crossed = larger(2 * 0.856 * cross / omega, One(1e-20));
    const One arg1 = smaller(larger(turbulent, viscous), 4 * 0.856 * k / (crossed * y * y));
    const One arg2 = larger(2.0 * turbulent, viscous);
    const One F1 = tanh(arg1 * arg1 * arg1 * arg1), F2 = tanh(arg2 * arg2);
    const One nu_t = 0.31 * k / larger(0.31 * omega, sqrt(vorticity) * F2);
    const auto blended = [&](double inner, double outer) { return F1 * inner + (1.0 - F1) * outer; };

    Model<Dim> made;
    made.mu_t = rho * nu_t / scale;
    const double gamma1 = 0.075 / 0.09 - 0.5 * 0.41 * 0.41 / 0.3,
                 gamma2 = 0.0828 / 0.09 - 0.856 * 0.41 * 0.41 / 0.3;
    const One of_k = scale * mu + blended(0.85, 1.0) * rho * nu_t,
              of_omega = scale * mu + blended(0.5, 0.856) * rho * nu_t;
    const double destroyed = 0.09 * omega.v * k.v;
    made.source[0] = destroyed - std::min(nu_t.v * rate.v, 20 * destroyed);
    made.source[1] = blended(0.075, 0.0828).v * omega.v * omega.v - blended(gamma1, gamma2).v * rate.v -
                     2 * (1 - F1.v) * 0.856 * cross.v / omega.v;
    for (std::size_t d = 0; d < D; ++d) {
        made.source[0] += m.u[d].v.v * m.k.d[d].v - (of_k * m.k.d[d]).d[d] / rho.v;
        made.source[1] += m.u[d].v.v * m.omega.d[d].v - (of_omega * m.omega.d[d]).d[d] / rho.v;
    }
    return made;
}

/// What has to be added to each equation, with the model's at the end: the divergence of its fluxes less the
/// sources of the model.
template <int Dim>
std::array<double, Dim + 4> made_source(const Real3& at, const Scheme& scheme) {
    constexpr std::size_t D = Dim;
    using One = Once<Dim>;
    const Made<Dim, Twice<Dim>> m = made<Dim>(variables<Dim>(at));
    const One rho = m.rho.v, p = m.p.v;
    std::array<One, D> u;
    One square = 0.0;
    for (std::size_t d = 0; d < D; ++d) u[d] = m.u[d].v, square = square + u[d] * u[d];
    const Gas& gas = scheme.gas;
    const double scale = gas.viscous_scale();
    const One E = p / (gas.gamma - 1) + 0.5 * rho * square;
    std::array<std::array<One, D + 2>, D> flux;
    for (std::size_t d = 0; d < D; ++d) {
        flux[d][0] = rho * u[d];
        for (std::size_t e = 0; e < D; ++e) flux[d][1 + e] = rho * u[d] * u[e] + (d == e ? p : One(0.0));
        flux[d][D + 1] = (E + p) * u[d];
    }
    Model<Dim> model;
    if (scheme.viscous()) {
        const Twice<Dim> T2 = gas.gamma * m.p / m.rho;
        const One T = T2.v, mu = T * sqrt(T) * (1 + gas.sutherland) / (T + gas.sutherland);
        if (scheme.turbulent())
            model = scheme.is_sst() ? made_sst<Dim>(m, mu, scheme) : made_sa<Dim>(m, mu, scheme);
        const One& mu_t = model.mu_t;
        const One conduction = (mu / gas.prandtl + mu_t / gas.turbulent_prandtl) / (gas.gamma - 1) * scale;
        const One total = (mu + mu_t) * scale;
        One divergence = 0.0;
        for (std::size_t d = 0; d < D; ++d) divergence = divergence + m.u[d].d[d];
        for (std::size_t d = 0; d < D; ++d) {
            for (std::size_t e = 0; e < D; ++e) {
                One tau = m.u[e].d[d] + m.u[d].d[e];
                if (d == e) tau = tau - 2.0 / 3 * divergence;
                tau = total * tau;
                flux[d][1 + e] = flux[d][1 + e] - tau;
                flux[d][D + 1] = flux[d][D + 1] - u[e] * tau;
            }
            flux[d][D + 1] = flux[d][D + 1] - conduction * T2.d[d];
        }
    }
    std::array<double, Dim + 4> source{};
    for (std::size_t c = 0; c < D + 2; ++c)
        for (std::size_t d = 0; d < D; ++d) source[c] += flux[d][c].d[d];
    source[D + 2] = model.source[0], source[D + 3] = model.source[1];
    return source;
}

struct Solved {
    // Root of the mean square error of density, momentum and energy, and of nu~, or k and omega over what
    // they are.
    double flow = 0;
    std::array<double, 2> model{};
    int steps = 0;
    bool converged = false;
};

/// The manufactured solution on n cells along each axis with exact ghosts, by implicit steps from a wrong
/// start.
template <int Dim>
Solved solve_made(int n, const Scheme& scheme, double cfl = 50) {
    const Int3 cells{n, n, Dim == 3 ? n : 1};
    Block<Dim> b(cells, wavy<Dim>(cells, 0.03));
    const auto exact = [](const Real3& x) {
        const auto m = made_at<Dim>(x);
        return Primitive<Dim, double>{m.rho, m.u, m.p};
    };
    const int equations = scheme.model_equations();
    const auto model_at = [&](const Real3& x, int e) {
        const auto m = made_at<Dim>(x);
        return !scheme.is_sst() ? m.nu : e == kK ? m.k : m.omega;
    };
    b.set(b.around, exact);
    b.set(b.cells, [](const Real3&) {
        Primitive<Dim, double> w{1, {}, 1 / 1.4};
        w.u[0] = 0.5, w.u[1] = 0.3;
        return w;
    });
    std::vector<std::array<double, Dim + 4>> sources;
    strata::graph::for_each(b.around, [&](int i, int j, int k) {
        const Real3 x = b.centre_of(i, j, k);
        const bool own = b.cells.contains(Int3{i, j, k});
        for (int e = 0; e < equations; ++e) b.nu.view()(i, j, k, e) = (own ? 1.1 : 1) * model_at(x, e);
        if (b.beside.contains(Int3{i, j, k}))
            b.distance.view()(i, j, k) = (scheme.is_sst() ? kFurther : 1) * made_at<Dim>(x).distance;
        if (own) sources.push_back(made_source<Dim>(x, scheme));
    });
    Solved found;
    double first = 0;
    for (found.steps = 1; found.steps <= 3000; ++found.steps) {
        b.compute(scheme);
        std::size_t at = 0;
        strata::graph::for_each(b.cells, [&](int i, int j, int k) {
            const double V = b.volume.view()(i, j, k);
            for (int c = 0; c < Dim + 2; ++c)
                b.mean.view()(i, j, k, c) -= V * sources[at][static_cast<std::size_t>(c)];
            for (int e = 0; e < equations; ++e)
                b.nu_residual.view()(i, j, k, e) -= V * sources[at][static_cast<std::size_t>(Dim + 2 + e)];
            ++at;
        });
        double norm = 0;
        for (int c = 0; c < Dim + 2; ++c) norm += square_sum(b.cells, b.volume.read(), b.mean.read(), c);
        for (int e = 0; e < equations; ++e)
            norm += square_sum(b.cells, b.volume.read(), b.nu_residual.read(), e);
        if (found.steps == 1) first = norm;
        if (norm < 1e-20 * first) {
            found.converged = true;
            break;
        }
        // Ghosts of the unknowns at the ends of the block are not looked at.
        if (b.step(scheme, {cfl, cfl, 0}).impossible > 0) return found;
    }
    double count = 0;
    strata::graph::for_each(b.cells, [&](int i, int j, int k) {
        const Real3 x = b.centre_of(i, j, k);
        const auto q = conserved<Dim, double>(exact(x), 1.4);
        const auto off = [&](int c, double part) { return std::pow(b.q.view()(i, j, k, c) - part, 2); };
        found.flow += off(0, q.rho) + off(Dim + 1, q.E);
        for (int d = 0; d < Dim; ++d) found.flow += off(1 + d, q.m[static_cast<std::size_t>(d)]);
        for (int e = 0; e < equations; ++e)
            found.model[static_cast<std::size_t>(e)] +=
                std::pow(b.nu.view()(i, j, k, e) / model_at(x, e) - 1, 2);
        ++count;
    });
    found.flow = std::sqrt(found.flow / ((Dim + 2) * count));
    for (double& part : found.model) part = std::sqrt(part / count);
    return found;
}

}  // namespace flow_test
