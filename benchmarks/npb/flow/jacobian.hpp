// The Jacobians that the implicit parts of BT and LU are made of (RNR-94-007, section 3): of the flux of the
// gas along a direction, and of viscosity, heat and diffusion there.
#pragma once

#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/flow/equations.hpp"

namespace strata::npb::flow {

/// Eight matrices of 5 x 5.
using Block = Vec[kComponents][kComponents];

/// The gas at eight points as the Jacobians need it.
struct Motion {
    Vec inverse;      // 1 / density
    Vec velocity[3];  // the first along the lines
    Vec kinetic;      // energy per unit of mass
    Vec energy;       // per unit of mass

    explicit Motion(const Vec (&u)[kComponents]) : inverse(1 / u[0]), kinetic{}, energy(u[4] * inverse) {
        for (int d = 0; d < 3; ++d) {
            velocity[d] = u[1 + d] * inverse;
            kinetic += 0.5 * velocity[d] * velocity[d];
        }
    }
};

/// block = first * (Jacobian of the flux) + second * (Jacobian of viscosity and heat + diffusion * I), the
/// components being density, momentum along the line, the two others, energy. Entries (0, 2), (0, 3), (0, 4),
/// (2, 3), (2, 4), (3, 2) and (3, 4) are 0 and are not set: kShape tells which are.
inline void set_jacobians(const Motion& g, double first, double second, double diffusion, Block& block) {
    const Vec u = g.velocity[0], v = g.velocity[1], w = g.velocity[2];
    const Vec viscous = second * kViscous * g.inverse;  // of the viscosity's Jacobian
    const Vec along = 4.0 / 3 * viscous, heat = kHeat * viscous;
    const double own = second * diffusion;

    block[0][0] = broadcast(own);
    block[0][1] = broadcast(first);

    block[1][0] = first * (k2 * g.kinetic - u * u) - along * u;
    block[1][1] = first * (2 - k2) * u + along + own;
    block[1][2] = -first * k2 * v;
    block[1][3] = -first * k2 * w;
    block[1][4] = broadcast(first * k2);

    block[2][0] = -first * u * v - viscous * v;
    block[2][1] = first * v;
    block[2][2] = first * u + viscous + own;

    block[3][0] = -first * u * w - viscous * w;
    block[3][1] = first * w;
    block[3][3] = first * u + viscous + own;

    const Vec enthalpy = k1 * g.energy - k2 * g.kinetic;  // per unit of mass
    block[4][0] = first * u * (2 * k2 * g.kinetic - k1 * g.energy) - (along - heat) * u * u -
                  (viscous - heat) * (v * v + w * w) - heat * g.energy;
    block[4][1] = first * (enthalpy - k2 * u * u) + (along - heat) * u;
    block[4][2] = -first * k2 * u * v + (viscous - heat) * v;
    block[4][3] = -first * k2 * u * w + (viscous - heat) * w;
    block[4][4] = first * k1 * u + heat + own;
}

/// Which entries set_jacobians sets.
inline constexpr bool kShape[kComponents][kComponents] = {{true, true, false, false, false},
                                                          {true, true, true, true, true},
                                                          {true, true, true, false, false},
                                                          {true, true, false, true, false},
                                                          {true, true, true, true, true}};

}  // namespace strata::npb::flow
