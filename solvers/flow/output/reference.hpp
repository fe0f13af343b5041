// Reference values of coefficients, and directions of forces.
#pragma once

#include <array>

#include "core/graph/declare/box.hpp"

namespace strata::flow {

using graph::Real3;

struct Reference {
    double mach = 0.2;    // coefficients are divided by rho a^2 M^2 / 2
    double reynolds = 0;  // of a unit of length of the grid; 0: inviscid
    double area = 1;      // two dimensions: of a unit of span. Axisymmetric: of the whole body
    double length = 1;    // of the pitching moment
    double span = 1;      // of rolling and yawing moments
    Real3 centre{0.25, 0, 0};
    double alpha = 0, beta = 0;  // angles of attack and sideslip, degrees
    int up = 1;                  // the axis of lift at alpha = 0: 1 (y) or 2 (z); x points aft

    /// The direction of the free stream and of drag: cos a cos b x - sin b side + sin a cos b up, with
    /// side = up x x (starboard).
    [[nodiscard]] Real3 stream() const;
    [[nodiscard]] Real3 lift() const;  // -sin a x + cos a up
    [[nodiscard]] Real3 side() const;  // lift x drag at beta = 0: up x x
};

}  // namespace strata::flow
