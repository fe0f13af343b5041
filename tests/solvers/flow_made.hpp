// A manufactured flow, and what has to be added to each equation for it: made by automatic differentiation of
// the equations as they stand in papers, apart from the solver's code.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tests/solvers/flow_block.hpp"
#include "tests/solvers/flow_dual.hpp"

namespace flow_test {

/// Density, velocity, pressure, nu~ and the distance from a wall, smooth and without symmetry.
template <int Dim, class T>
struct Made {
    T rho;
    std::array<T, static_cast<std::size_t>(Dim)> u;
    T p, nu, distance;
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
    m.distance = 1.0 + 0.4 * y + 0.1 * x;
    if constexpr (Dim == 3) {
        const T& z = at[2];
        m.rho = m.rho + 0.06 * sin(1.4 * z + 0.2 * x);
        m.u[0] = m.u[0] + 0.15 * cos(1.1 * z + 0.4 * y);
        m.u[1] = m.u[1] + 0.1 * sin(0.9 * z - 0.5 * x);
        m.u[2] = 0.2 + 0.3 * z + 0.1 * sin(1.2 * x - 0.7 * y + 0.8 * z);
        m.p = m.p + 0.06 * sin(1.3 * z + 0.5);
        m.nu = m.nu + 0.6 * sin(1.0 * z + 0.3 * x);
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

/// What has to be added to each equation, with nu~'s at the end: the divergence of its fluxes less the
/// sources of the model (Spalart and Allmaras 1994).
template <int Dim>
std::array<double, Dim + 3> made_source(const Real3& at, const Scheme& scheme) {
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
    double nu_source = 0;
    if (scheme.viscous()) {
        const Twice<Dim> T2 = gas.gamma * m.p / m.rho;
        const One T = T2.v, mu = T * sqrt(T) * (1 + gas.sutherland) / (T + gas.sutherland);
        One mu_t = 0.0;
        if (scheme.turbulent()) {
            const One nu = mu / rho, tilde = m.nu.v, chi = tilde / nu, cube = chi * chi * chi;
            mu_t = rho * tilde * cube / (cube + 357.911);
            const auto& g = m.nu.d;
            const One all = nu + tilde;
            double diffusion = 0, laplace = 0, turning = 0;
            for (std::size_t d = 0; d < D; ++d) {
                diffusion += 1.622 * (all * g[d]).d[d];
                laplace += g[d].d[d];
                nu_source += u[d].v * g[d].v;
                for (std::size_t e = 0; e < d; ++e) turning += std::pow(m.u[d].d[e].v - m.u[e].d[d].v, 2);
            }
            diffusion -= 0.622 * all.v * laplace;
            nu_source -= scale * 1.5 * diffusion;
            turning = std::sqrt(turning);
            const double x = chi.v, d2 = m.distance.v.v * m.distance.v.v, k2 = 0.41 * 0.41;
            const double fv1 = cube.v / (cube.v + 357.911), fv2 = 1 - x / (1 + x * fv1);
            const double S = std::max(turning + scale * tilde.v * fv2 / (k2 * d2), scheme.sa.clip * turning);
            const double ft2 = scheme.sa.ft2 ? 1.2 * std::exp(-0.5 * x * x) : 0;
            const double r = std::min(10.0, scale * tilde.v / (S * k2 * d2)),
                         q = r + 0.3 * (std::pow(r, 6) - r);
            const double fw = q * std::pow(65 / (std::pow(q, 6) + 64), 1.0 / 6),
                         w1 = 0.1355 / k2 + 1.622 * 1.5;
            nu_source -= 0.1355 * (1 - ft2) * S * tilde.v -
                         scale * (w1 * fw - 0.1355 / k2 * ft2) * tilde.v * tilde.v / d2;
        }
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
    std::array<double, Dim + 3> source{};
    for (std::size_t c = 0; c < D + 2; ++c)
        for (std::size_t d = 0; d < D; ++d) source[c] += flux[d][c].d[d];
    source[D + 2] = nu_source;
    return source;
}

struct Solved {
    double flow = 0, nu = 0;  // root of the mean square error of density, momentum and energy, and of nu~
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
    b.set(b.around, exact);
    b.set(b.cells, [](const Real3&) {
        Primitive<Dim, double> w{1, {}, 1 / 1.4};
        w.u[0] = 0.5, w.u[1] = 0.3;
        return w;
    });
    std::vector<std::array<double, Dim + 3>> sources;
    strata::graph::for_each(b.around, [&](int i, int j, int k) {
        const Real3 x = b.centre_of(i, j, k);
        const bool own = b.cells.contains(Int3{i, j, k});
        b.nu.view()(i, j, k) = own ? 3 : made_at<Dim>(x).nu;
        if (own) b.distance.view()(i, j, k) = made_at<Dim>(x).distance;
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
            if (scheme.turbulent()) b.nu_residual.view()(i, j, k) -= V * sources[at][Dim + 2];
            ++at;
        });
        double norm = 0;
        for (int c = 0; c < Dim + 2; ++c) norm += square_sum(b.cells, b.volume.read(), b.mean.read(), c);
        if (scheme.turbulent()) norm += square_sum(b.cells, b.volume.read(), b.nu_residual.read(), 0);
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
        found.nu += std::pow(b.nu.view()(i, j, k) - made_at<Dim>(x).nu, 2);
        ++count;
    });
    found.flow = std::sqrt(found.flow / ((Dim + 2) * count));
    found.nu = std::sqrt(found.nu / count);
    return found;
}

}  // namespace flow_test
