#include "solvers/flow/scheme/eddies.hpp"

#include <algorithm>

#include "solvers/flow/scheme/cell_gradient.hpp"
#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/sst.hpp"

namespace strata::flow {
namespace {

/// Values of n <= 8 cells along x and of the cells beside them.
template <int Dim>
class Cells {
    static constexpr std::size_t D = Dim;

  public:
    using Gradient = CellGradient<Dim, Lanes>;
    using Beside = typename Gradient::Beside;

    Cells(const Patch<Dim>& patch, const Int3& at, int n)
        : patch_(patch),
          at_(at),
          n_(n),
          over_rho_(1.0 / own(patch.q, 0)),
          over_rho_beside_(beside(patch.q, 0)),
          gradient_(
              own(patch.volumes, 0), beside(patch.volumes, 0), [&](int d) { return own(patch.centres, d); },
              [&](int d) { return beside(patch.centres, d); }) {
        for (Lanes& x : over_rho_beside_) x = 1.0 / x;
    }

    [[nodiscard]] Lanes own(const FieldView<const double>& f, int c) const {
        return load(f, at_[0], at_[1], at_[2], c, n_);
    }
    [[nodiscard]] Vector<Dim, Lanes> gradient(const FieldView<const double>& f, int c) const {
        return gradient_.of(own(f, c), beside(f, c));
    }
    [[nodiscard]] Vector<Dim, Lanes> velocity_gradient(int d) const {
        Beside around = beside(patch_.q, d + 1);
        for (std::size_t b = 0; b < 2 * D; ++b) around[b] = around[b] * over_rho_beside_[b];
        return gradient_.of(own(patch_.q, d + 1) * over_rho_, around);
    }
    /// v / y, in axisymmetric flow.
    [[nodiscard]] Lanes turning() const { return own(patch_.q, 2) * over_rho_ / own(patch_.centres, 1); }

  private:
    [[nodiscard]] Beside beside(const FieldView<const double>& f, int c) const {
        Beside values;
        for (std::size_t a = 0; a < D; ++a)
            for (int side = 0; side < 2; ++side) {
                Int3 at = at_;
                at[a] += 2 * side - 1;
                values[2 * a + static_cast<std::size_t>(side)] = load(f, at[0], at[1], at[2], c, n_);
            }
        return values;
    }

    const Patch<Dim>& patch_;
    Int3 at_;
    int n_;
    Lanes over_rho_;
    Beside over_rho_beside_;
    Gradient gradient_;
};

/// 2 S . S - 2/3 (div u)^2, with v / y around an axis.
template <int Dim>
Lanes strain_square(const std::array<Vector<Dim, Lanes>, static_cast<std::size_t>(Dim)>& g,
                    const Lanes& around) {
    Lanes squares = 2.0 * around * around, divergence = around;
    for (std::size_t d = 0; d < Dim; ++d) {
        squares += 2.0 * g[d][d] * g[d][d];
        divergence += g[d][d];
        for (std::size_t e = 0; e < d; ++e) {
            const Lanes both = g[d][e] + g[e][d];
            squares += both * both;
        }
    }
    return squares - (2.0 / 3) * divergence * divergence;
}

template <int Dim>
[[gnu::flatten]] void eddies_of(const Patch<Dim>& patch, const Scheme& scheme, const Int3& at, int n,
                                const FieldView<double>& to) {
    const Cells<Dim> cells(patch, at, n);
    const Gas& gas = scheme.gas;
    Conserved<Dim, Lanes> q;
    q.rho = cells.own(patch.q, 0);
    for (std::size_t d = 0; d < Dim; ++d) q.m[d] = cells.own(patch.q, static_cast<int>(d) + 1);
    q.E = cells.own(patch.q, Dim + 1);
    const Primitive<Dim, Lanes> w = primitive(q, gas.gamma);
    const Lanes over_rho = 1.0 / w.rho;
    const Lanes mu = viscosity_of(gas.gamma * w.p * over_rho, gas.sutherland)[0];
    const Lanes nu = gas.viscous_scale() * mu * over_rho;

    std::array<Vector<Dim, Lanes>, static_cast<std::size_t>(Dim)> g;
    for (std::size_t d = 0; d < Dim; ++d) g[d] = cells.velocity_gradient(static_cast<int>(d));
    const Lanes turning = vorticity_square<Dim, Lanes>(g), vorticity = sqrt(turning);
    const Lanes rate = scheme.sst.vorticity
                           ? turning
                           : strain_square<Dim>(g, scheme.axisymmetric ? cells.turning() : Lanes{});
    const Lanes cross = dot(cells.gradient(patch.nu_tilde, kK), cells.gradient(patch.nu_tilde, kOmega));

    const Lanes k = cells.own(patch.nu_tilde, kK), omega = cells.own(patch.nu_tilde, kOmega),
                distance = cells.own(patch.wall_distance, 0);
    const sst::Lengths<Lanes> lengths(k, omega, nu, distance);
    const Lanes nu_t = sst::eddy(k, omega, vorticity, sst::in_layer(lengths));
    const auto put = [&](int c, const Lanes& x) { store(to, at[0], at[1], at[2], c, x, n); };
    put(kEddy, w.rho * nu_t * (1 / gas.viscous_scale()));
    put(kInner, sst::inner(lengths, k, omega, distance, cross));
    put(kRate, rate);
    put(kCross, cross);
}

}  // namespace

template <int Dim>
void eddies(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
            const FieldView<double>& viscosity) {
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
            for (int i = cells.lo[0]; i < cells.hi[0]; i += kLanes)
                eddies_of<Dim>(patch, scheme, {i, j, k}, std::min(kLanes, cells.hi[0] - i), viscosity);
}

template void eddies<2>(const Box&, const Patch<2>&, const Scheme&, const FieldView<double>&);
template void eddies<3>(const Box&, const Patch<3>&, const Scheme&, const FieldView<double>&);

}  // namespace strata::flow
