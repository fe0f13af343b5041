// What an implicit step needs of each cell beside its residual: viscosities, diagonals, and the change of the
// state at its end.
#include <algorithm>
#include <limits>

#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/lusgs.hpp"
#include "solvers/flow/scheme/sa.hpp"
#include "solvers/flow/scheme/sst.hpp"

namespace strata::flow {
namespace {

/// Calls f(i, j, k, n) for each n <= 8 cells of the rows of a box.
template <class F>
[[gnu::flatten]] void over_rows(const Box& cells, F&& f) {
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            over_eights(cells.lo[0], cells.hi[0], [&](int i, int n) { f(i, j, k, n); });
}

template <int Dim>
Conserved<Dim, Lanes> state(const FieldView<const double>& q, int i, int j, int k, int n) {
    Conserved<Dim, Lanes> s;
    s.rho = load(q, i, j, k, 0, n);
    for (int d = 0; d < Dim; ++d) s.m[static_cast<std::size_t>(d)] = load(q, i, j, k, d + 1, n);
    s.E = load(q, i, j, k, Dim + 1, n);
    return s;
}

/// Sums over the faces of n cells: of the convective radii, of |S|^2, and of |u . (S below + S above) / 2|
/// along the axes; as the faces see the flow, where they move.
struct FaceSums {
    Lanes radius{}, square{}, through{};
};

template <int Dim, int axis, bool moves>
void add_faces(const Patch<Dim>& patch, const Vector<Dim, Lanes>& u, const Lanes& a, int i, int j, int k,
               int n, FaceSums& sums) {
    Vector<Dim, Lanes> lower, upper;
    for (int d = 0; d < Dim; ++d) {
        lower[static_cast<std::size_t>(d)] = load(patch.faces[axis], i, j, k, d, n);
        upper[static_cast<std::size_t>(d)] = load(patch.faces[axis], i + (axis == 0 ? 1 : 0),
                                                  j + (axis == 1 ? 1 : 0), k + (axis == 2 ? 1 : 0), d, n);
    }
    const Lanes below = dot(lower, lower), above = dot(upper, upper);
    Lanes in = dot(u, lower), out = dot(u, upper);
    if constexpr (moves) {
        in -= load(patch.speeds[axis], i, j, k, 0, n);
        out -= load(patch.speeds[axis], i + (axis == 0 ? 1 : 0), j + (axis == 1 ? 1 : 0),
                    k + (axis == 2 ? 1 : 0), 0, n);
    }
    sums.radius += abs(in) + abs(out) + a * (sqrt(below) + sqrt(above));
    sums.square += below + above;
    sums.through += abs(0.5 * (in + out));
}

template <bool moves, int Dim>
FaceSums face_sums(const Patch<Dim>& patch, double gamma, int i, int j, int k, int n) {
    const Primitive<Dim, Lanes> w = primitive(state<Dim>(patch.q, i, j, k, n), gamma);
    const Lanes a = sqrt(gamma * w.p * (1.0 / w.rho));
    FaceSums sums;
    add_faces<Dim, 0, moves>(patch, w.u, a, i, j, k, n, sums);
    add_faces<Dim, 1, moves>(patch, w.u, a, i, j, k, n, sums);
    if constexpr (Dim == 3) add_faces<Dim, 2, moves>(patch, w.u, a, i, j, k, n, sums);
    return sums;
}

template <bool moves, int Dim>
void find_diagonals(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const StepSize& step,
                    const FieldView<const double>& viscosity, const FieldView<double>& mean,
                    const FieldView<double>& nu_tilde) {
    over_rows(cells, [&](int i, int j, int k, int n) {
        const FaceSums sums = face_sums<moves>(patch, scheme.gas.gamma, i, j, k, n);
        const Lanes volume = load(patch.volumes, i, j, k, 0, n);
        Lanes half = 0.5 * sums.radius;
        if (scheme.viscous()) half += load(viscosity, i, j, k, 0, n) * sums.square;
        const Lanes physical = volume * step.physical;
        store(mean, i, j, k, 0, 1.0 / (half * (1 + 1 / step.cfl) + physical), n);
        for (int m = 0; m < scheme.model_equations(); ++m) {
            const Lanes own = sums.through + load(viscosity, i, j, k, diffusion_of(m), n) * sums.square;
            const Lanes slope = load(readable(nu_tilde), i, j, k, m, n);
            store(nu_tilde, i, j, k, m, 1.0 / (own + half * (1 / step.cfl_turbulence) + slope + physical), n);
        }
    });
}

}  // namespace

template <int Dim>
void step_viscosity(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                    const FieldView<double>& viscosity) {
    const Gas& gas = scheme.gas;
    over_rows(cells, [&](int i, int j, int k, int n) {
        const Primitive<Dim, Lanes> w = primitive(state<Dim>(patch.q, i, j, k, n), gas.gamma);
        const Lanes over_rho = 1.0 / w.rho;
        const auto [mu, over_mu] = viscosity_of(gas.gamma * w.p * over_rho, gas.sutherland);
        const Lanes scale = gas.viscous_scale() / load(patch.volumes, i, j, k, 0, n);
        Lanes conduction = mu * (1 / gas.prandtl), friction = mu;
        if (scheme.keeps_eddies()) {
            const Lanes mu_t = load(readable(viscosity), i, j, k, kEddy, n);
            conduction += mu_t * (1 / gas.turbulent_prandtl), friction += mu_t;
            if (scheme.is_sst()) {
                const Lanes F1 = load(readable(viscosity), i, j, k, kInner, n);
                const auto diffusion = [&](double inner, double outer) {
                    return scale * over_rho * (mu + sst::blended(F1, inner, outer) * mu_t);
                };
                store(viscosity, i, j, k, diffusion_of(kK), diffusion(sst::sigma_k1, sst::sigma_k2), n);
                store(viscosity, i, j, k, diffusion_of(kOmega),
                      diffusion(sst::sigma_omega1, sst::sigma_omega2), n);
            }
        } else if (scheme.eddies()) {
            const Lanes chi = load(patch.nu_tilde, i, j, k, 0, n) * w.rho * over_mu;
            const Lanes mu_t = mu * sa::eddy(chi);
            conduction += mu_t * (1 / gas.turbulent_prandtl), friction += mu_t;
            if (scheme.turbulent())
                store(viscosity, i, j, k, 1,
                      scale * (1 / sa::sigma) * mu * over_rho * sa::diffusivity(chi, scheme.sa.negative), n);
        }
        store(viscosity, i, j, k, 0, scale * gas.gamma * conduction * over_rho, n);
        store(viscosity, i, j, k, 2, scale * friction * over_rho, n);
    });
}

template <int Dim>
void diagonals(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme, const StepSize& step,
               const FieldView<const double>& viscosity, const FieldView<double>& mean,
               const FieldView<double>& nu_tilde) {
    by_motion(patch, [&](auto moves) {
        find_diagonals<moves>(cells, patch, scheme, step, viscosity, mean, nu_tilde);
    });
}

template <int Dim>
double least_time_step(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
                       const FieldView<const double>& viscosity) {
    double least = std::numeric_limits<double>::infinity();
    by_motion(patch, [&](auto moves) {
        over_rows(cells, [&](int i, int j, int k, int n) {
            const FaceSums sums = face_sums<moves>(patch, scheme.gas.gamma, i, j, k, n);
            Lanes half = 0.5 * sums.radius;
            if (scheme.viscous()) half += load(viscosity, i, j, k, 0, n) * sums.square;
            const Lanes step = load(patch.volumes, i, j, k, 0, n) / half;
            for (int l = 0; l < n; ++l) least = std::min(least, step[l]);
        });
    });
    return least;
}

template <int Dim>
UpdateCount update(const Box& cells, const Scheme& scheme, double most, const FieldView<const double>& dq,
                   const FieldView<const double>& dnu_tilde, const FieldView<double>& q,
                   const FieldView<double>& nu_tilde) {
    UpdateCount count;
    const double gamma = scheme.gas.gamma;
    over_rows(cells, [&](int i, int j, int k, int n) {
        const Conserved<Dim, Lanes> old = state<Dim>(readable(q), i, j, k, n),
                                    change = state<Dim>(dq, i, j, k, n);
        const auto pressure = [&](const Conserved<Dim, Lanes>& s) {
            return (gamma - 1) * (s.E - 0.5 * dot(s.m, s.m) / s.rho);
        };
        const auto changed = [&](const Lanes& share) {
            Conserved<Dim, Lanes> s;
            s.rho = old.rho + share * change.rho;
            for (std::size_t d = 0; d < Dim; ++d) s.m[d] = old.m[d] + share * change.m[d];
            s.E = old.E + share * change.E;
            return s;
        };
        const Lanes one = broadcast(1), p = pressure(old);
        Lanes share = one;
        Conserved<Dim, Lanes> now = changed(one);
        Lanes p_now = pressure(now);
        // Holds for no change that is not a number.
        const auto small = (abs(change.rho) <= most * old.rho) & (abs(p_now - p) <= most * p);
        if (!all_of(small, n)) {
            // First by the density alone, so that the new pressure is that of a possible density; then by the
            // pressure.
            const Lanes rho_change = abs(change.rho) / old.rho;
            share = select(rho_change > most, most / rho_change, one);
            now = changed(share);
            const Lanes p_change = abs(pressure(now) - p) / p;
            share = select(p_change > most, share * (most / p_change), share);
            now = changed(share);
            p_now = pressure(now);
            for (int l = 0; l < n; ++l) {
                const bool possible = now.rho[l] > 0 && p_now[l] > 0 && p_now[l] < 1e300;
                if (possible && !(share[l] < 1)) continue;
                if (possible ? count.limited + count.impossible == 0 : count.impossible == 0)
                    count.first = {i + l, j, k};
                ++(possible ? count.limited : count.impossible);
            }
        }
        store(q, i, j, k, 0, now.rho, n);
        for (int d = 0; d < Dim; ++d) store(q, i, j, k, d + 1, now.m[static_cast<std::size_t>(d)], n);
        store(q, i, j, k, Dim + 1, now.E, n);
        for (int m = 0; m < scheme.model_equations(); ++m) {
            const Lanes before = load(readable(nu_tilde), i, j, k, m, n),
                        nu = before + share * load(dnu_tilde, i, j, k, m, n);
            if (!all_of(nu - nu == 0.0, n))
                for (int l = 0; l < n; ++l) {
                    if (nu[l] - nu[l] == 0) continue;
                    if (count.impossible++ == 0) count.first = {i + l, j, k};
                }
            const Lanes least = scheme.is_sst() ? sst::least_share * before : Lanes{};
            store(nu_tilde, i, j, k, m, scheme.sa.negative ? nu : max(nu, least), n);
        }
    });
    return count;
}

#define STRATA_FLOW_STEP(Dim)                                                                           \
    template void step_viscosity<Dim>(const Box&, const Patch<Dim>&, const Scheme&,                     \
                                      const FieldView<double>&);                                        \
    template void diagonals<Dim>(const Box&, const Patch<Dim>&, const Scheme&, const StepSize&,         \
                                 const FieldView<const double>&, const FieldView<double>&,              \
                                 const FieldView<double>&);                                             \
    template double least_time_step<Dim>(const Box&, const Patch<Dim>&, const Scheme&,                  \
                                         const FieldView<const double>&);                               \
    template UpdateCount update<Dim>(const Box&, const Scheme&, double, const FieldView<const double>&, \
                                     const FieldView<const double>&, const FieldView<double>&,          \
                                     const FieldView<double>&);
STRATA_FLOW_STEP(2)
STRATA_FLOW_STEP(3)
#undef STRATA_FLOW_STEP

}  // namespace strata::flow
