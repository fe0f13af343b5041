// Viscous fluxes: the full stress tensor and Fourier's law, at a face.
#pragma once

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"

namespace strata::flow {

/// Of a function of which differences along Dim vectors e are known, the gradient: exact for linear
/// functions. The rows of the inverse are made once for all functions at a place.
template <int Dim, class V>
struct Differences {
    /// gradient = sum over a of difference_a along[a]
    std::array<Vector<Dim, V>, static_cast<std::size_t>(Dim)> along;

    Differences() = default;
    explicit Differences(const std::array<Vector<Dim, V>, static_cast<std::size_t>(Dim)>& e) {
        if constexpr (Dim == 2) {
            const V over = 1.0 / (e[0][0] * e[1][1] - e[0][1] * e[1][0]);
            along[0] = {e[1][1] * over, -e[1][0] * over};
            along[1] = {-e[0][1] * over, e[0][0] * over};
        } else {
            const auto cross = [](const Vector<3, V>& a, const Vector<3, V>& b) {
                return Vector<3, V>{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                    a[0] * b[1] - a[1] * b[0]};
            };
            along[0] = cross(e[1], e[2]);
            along[1] = cross(e[2], e[0]);
            along[2] = cross(e[0], e[1]);
            const V over = 1.0 / dot(e[0], along[0]);
            for (auto& row : along)
                for (auto& x : row) x = x * over;
        }
    }
    [[nodiscard]] Vector<Dim, V> gradient(const Vector<Dim, V>& difference) const {
        Vector<Dim, V> g;
        for (std::size_t d = 0; d < Dim; ++d) {
            g[d] = difference[0] * along[0][d];
            for (std::size_t a = 1; a < Dim; ++a) g[d] = g[d] + difference[a] * along[a][d];
        }
        return g;
    }
};

/// What leaves through the area: momentum -tau . S and energy -(u . tau + k grad T) . S, with tau = mu (grad
/// u + transposed - 2/3 div u) and Stokes' hypothesis. Gradients are sums of differences times the rows of
/// `geometry`; `along[a]`, row a . S, takes differences to the derivative along S. `du[d]` are the
/// differences of u_d, `more` what div u has beside that of the velocity's components (v / y in axisymmetric
/// flow), `dT` the derivative of T = a^2 along S, conduction = (mu / Pr + mu_t / Pr_t) / (gamma - 1); both
/// coefficients carry Mach / Re.
template <int Dim, class V>
Conserved<Dim, V> viscous_flux(const Differences<Dim, V>& geometry, const Vector<Dim, V>& along,
                               const std::array<Vector<Dim, V>, static_cast<std::size_t>(Dim)>& du,
                               const V& more, const Vector<Dim, V>& u, const V& dT, const V& mu,
                               const V& conduction, const Vector<Dim, V>& area) {
    V divergence = more;
    Vector<Dim, V> across;  // differences of u . S
    for (std::size_t a = 0; a < Dim; ++a) {
        across[a] = du[0][a] * area[0];
        V part = du[0][a] * geometry.along[a][0];
        for (std::size_t d = 1; d < Dim; ++d) {
            across[a] = across[a] + du[d][a] * area[d];
            part = part + du[d][a] * geometry.along[a][d];
        }
        divergence = divergence + part;
    }
    Conserved<Dim, V> f;
    const V bulk = (2.0 / 3) * divergence;
    f.rho = 0.0 * mu;
    for (std::size_t d = 0; d < Dim; ++d) {
        // (grad u + transposed) . S
        V sum = dot(du[d], along);
        for (std::size_t a = 0; a < Dim; ++a) sum = sum + across[a] * geometry.along[a][d];
        f.m[d] = mu * (bulk * area[d] - sum);
    }
    f.E = dot(u, f.m) - conduction * dT;
    return f;
}

}  // namespace strata::flow
