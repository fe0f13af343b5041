// The blocks of LU's triangular systems (RNR-94-007, section 3), not as matrices but as what they do to a
// vector: the blocks beside the diagonal are Jacobians, whose product with a vector is the change of the
// fluxes by a change of the solution; those on the diagonal are lower triangular.
#pragma once

#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/flow/equations.hpp"

namespace strata::npb::lu {

inline constexpr int kComponents = flow::kComponents;

/// The gas at eight points: velocities, and energies per unit of mass.
struct Gas {
    Vec inverse, velocity[3], kinetic, energy;

    /// `inverse_density` may be 0 where a lane does not count.
    Gas(const Vec (&u)[kComponents], Vec inverse_density)
        : inverse(inverse_density), kinetic{}, energy(u[4] * inverse) {
        for (int d = 0; d < 3; ++d) {
            velocity[d] = u[1 + d] * inverse;
            kinetic += 0.5 * velocity[d] * velocity[d];
        }
    }
};

/// A change of the solution, and what it does to the gas.
struct Change {
    const Vec (&v)[kComponents];
    Vec momentum[3];  // of the velocities, times density
    Vec pressure, work, heat;

    Change(const Gas& g, const Vec (&change)[kComponents]) : v(change) {
        work = Vec{};
        for (int d = 0; d < 3; ++d) {
            momentum[d] = v[1 + d] - g.velocity[d] * v[0];
            work += g.velocity[d] * momentum[d];
        }
        heat = v[4] - g.energy * v[0];
        pressure = flow::k2 * (heat - work + (g.energy - g.kinetic) * v[0]);
    }
};

/// Factors of one direction's blocks.
struct Factors {
    double first;   // of the Jacobian of the gas's flux
    double second;  // of that of viscosity and heat
    double own;     // of the identity: diffusion
};

/// out = (first A + second N + own I) v along direction D.
template <int D>
inline void product(const Gas& g, const Change& c, const Factors& f, Vec (&out)[kComponents]) {
    const Vec along = g.velocity[D], faster = f.first * c.momentum[D];
    const Vec viscous = f.second * flow::kViscous * g.inverse;
    const Vec carried = f.first * along + f.own;
    out[0] = f.first * c.v[1 + D] + f.own * c.v[0];
    for (int d = 0; d < 3; ++d)
        out[1 + d] = carried * c.v[1 + d] + g.velocity[d] * faster + viscous * c.momentum[d];
    out[1 + D] += f.first * c.pressure + (1.0 / 3) * viscous * c.momentum[D];
    const Vec enthalpy = (1 + flow::k2) * g.energy - flow::k2 * g.kinetic;
    out[4] =
        carried * c.v[4] + f.first * along * c.pressure + enthalpy * faster +
        viscous * ((1 - flow::kHeat) * c.work + (1.0 / 3) * along * c.momentum[D] + flow::kHeat * c.heat);
}

/// The diagonal blocks I + 2 dt sum over d of (N_d + diffusion I) / h_d^2.
struct Diagonal {
    double base;           // 1 + 2 dt sum of diffusion / h^2
    double viscous[3];     // 2 dt k3 k4 (sum of 1 / h^2 + 1 / (3 h_d^2))
    double work[3], heat;  // factors in the row of the energy

    Diagonal(const std::array<flow::Axis, 3>& axes, double dt) : base(1) {
        double sum = 0;
        for (const flow::Axis& axis : axes) {
            base += 2 * dt * axis.second * axis.diffusion;
            sum += axis.second;
        }
        const double factor = 2 * dt * flow::kViscous;
        for (std::size_t d = 0; d < 3; ++d) {
            viscous[d] = factor * (sum + axes[d].second / 3);
            work[d] = factor * ((1 - flow::kHeat) * sum + axes[d].second / 3);
        }
        heat = factor * flow::kHeat * sum;
    }

    /// v = block^-1 r, by forward substitution.
    void solve(const Gas& g, const Vec (&r)[kComponents], Vec (&v)[kComponents]) const {
        v[0] = r[0] * (1 / base);
        Vec energy = r[4] + heat * g.inverse * g.energy * v[0];
        for (int d = 0; d < 3; ++d) {
            const Vec a = viscous[d] * g.inverse;
            v[1 + d] = (r[1 + d] + a * g.velocity[d] * v[0]) / (base + a);
            energy -= work[d] * g.inverse * g.velocity[d] * (v[1 + d] - g.velocity[d] * v[0]);
        }
        v[4] = energy / (base + heat * g.inverse);
    }
};

}  // namespace strata::npb::lu
