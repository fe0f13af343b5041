// Changes of the five components to and from the eigenvectors of the three fluxes' Jacobians (RNR-94-007,
// section 3, the diagonal form). The components along eigenvectors are in the order of the eigenvalues v, v,
// v, v + c, v - c.
#pragma once

#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/flow/equations.hpp"

namespace strata::npb::sp {

/// What the matrices are made of, at eight points.
struct Gas {
    Vec density, inverse;  // 1 / density
    Vec velocity[3];
    Vec kinetic;  // energy per unit of mass
    Vec sound;    // speed

    Gas(const double* u, std::int64_t step) : density(load(u)), inverse(1 / density), kinetic{} {
        for (int d = 0; d < 3; ++d) {
            velocity[d] = load(u + (1 + d) * step) * inverse;
            kinetic += 0.5 * velocity[d] * velocity[d];
        }
        sound = sqrt(flow::k1 * flow::k2 * (load(u + 4 * step) * inverse - kinetic));
    }
};

inline constexpr double kHalfRoot = 0.70710678118654752440;  // 1 / sqrt(2)

/// From the conserved components to those along the eigenvectors in x.
inline void to_x(const Gas& g, Vec (&r)[5]) {
    const Vec u = g.velocity[0], v = g.velocity[1], w = g.velocity[2];
    const Vec pressure = flow::k2 * (g.kinetic * r[0] - u * r[1] - v * r[2] - w * r[3] + r[4]);
    const Vec a = pressure / (g.sound * g.sound);
    const Vec b = kHalfRoot * g.inverse * (u * r[0] - r[1]);
    const Vec c = kHalfRoot * g.inverse * g.sound * a;
    const Vec mass = r[0];
    r[0] = mass - a;
    r[1] = g.inverse * (r[3] - w * mass);
    const Vec third = g.inverse * (v * mass - r[2]);
    r[2] = third;
    r[3] = c - b;
    r[4] = c + b;
}

/// From the eigenvectors in x to those in y.
inline void x_to_y(Vec (&r)[5]) {
    const Vec half = 0.5 * (r[3] + r[4]), shear = kHalfRoot * r[2];
    const Vec first = r[0];
    r[0] = -r[1];
    r[1] = first;
    r[2] = kHalfRoot * (r[3] - r[4]);
    r[3] = half - shear;
    r[4] = half + shear;
}

/// From the eigenvectors in y to those in z.
inline void y_to_z(Vec (&r)[5]) {
    const Vec half = 0.5 * (r[3] + r[4]), shear = kHalfRoot * r[0];
    const Vec second = r[1];
    r[0] = kHalfRoot * (r[3] - r[4]);
    r[1] = -r[2];
    r[2] = second;
    r[3] = half - shear;
    r[4] = half + shear;
}

/// From the eigenvectors in z to the conserved components.
inline void from_z(const Gas& g, Vec (&r)[5]) {
    const Vec u = g.velocity[0], v = g.velocity[1], w = g.velocity[2];
    const Vec scale = kHalfRoot * g.density;
    const Vec a = scale / g.sound * (r[3] + r[4]);
    const Vec b = scale * (r[3] - r[4]);
    const Vec mass = r[2] + a;
    const Vec along_x = -g.density * r[1], along_y = g.density * r[0];
    r[0] = mass;
    r[1] = along_x + u * mass;
    r[2] = along_y + v * mass;
    r[3] = b + w * mass;
    r[4] = u * along_x + v * along_y + g.kinetic * mass + g.sound * g.sound * a / flow::k2 + w * b;
}

}  // namespace strata::npb::sp
