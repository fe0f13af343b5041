// How a particle's deformation gradient follows the velocities of a step.
//
// A step moves particles by dt v(x), x the place at its beginning, so F' = (1 + dt dv/dx) F. But stress is
// updated first in a step ("USF": tasks.cpp), with velocities at the places x' to which they have led, and of
// dv/dx' = L the same motion has F = (1 - dt L) F'. With F' = (1 + dt L) F ("forward") each step is wrong by
// (dt L)^2: an error of first order in time, which grows with the square of the amplitude. "backward" is the
// exact F' = (1 - dt L)^-1 F.
#pragma once

#include "solvers/mpm/gather.hpp"
#include "solvers/mpm/material.hpp"

namespace strata::mpm {

/// (1 - dt L)^-1.
inline Tensor backward_step(const Gathered& g, double dt) {
    Tensor m;
    for (std::size_t c = 0; c < 9; ++c) {
        const Lanes change = dt * g.gradient[c];
        m[c] = c % 4 == 0 ? 1.0 - change : -change;
    }
    const auto cofactor = [&](std::size_t i, std::size_t j) {
        const std::size_t a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        return m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
    };
    Tensor inverse;
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) inverse[3 * j + i] = cofactor(i, j);
    const Lanes share = 1.0 / (m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6]);
    for (Lanes& x : inverse) x = x * share;
    return inverse;
}

}  // namespace strata::mpm
