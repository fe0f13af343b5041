// Solids: what they are made of; of hyperelastic ones stress and energy from the deformation gradient, eight
// particles at once.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/mpm/particles.hpp"

namespace strata::mpm {

enum class Law : std::uint8_t { neo_hookean, mooney_rivlin, linear, von_mises };

/// Row by row: [3 i + j] is component (i, j).
using Tensor = std::array<Lanes, 9>;
/// xx, yy, zz, xy, yz, zx.
using Symmetric = std::array<Lanes, 6>;

struct Stress {
    Symmetric kirchhoff;  // J times Cauchy's, Pa
    Lanes energy, J;      // per undeformed volume, J/m3; det F
};

/// All of SI units, for the undeformed state.
struct Material {
    Law law = Law::neo_hookean;
    double density = 0;
    double lambda = 0, mu = 0;              // Lame's
    double c1 = 0, c2 = 0, c3 = 0, c4 = 0;  // Mooney-Rivlin's
    double yield = 0, hardening = 0;        // von Mises': of Kirchhoff's stress, and its growth with alpha

    static Material elastic(Law law, double density, double young, double poisson) {
        Material m;
        m.law = law;
        m.density = density;
        m.lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
        m.mu = young / (2 * (1 + poisson));
        return m;
    }
    /// Compressible: W = C1 (I1 - 3) + C2 (I2 - 3) + C3 (1/I3^2 - 1) + C4 (I3 - 1)^2 with I1, I2, I3 of
    /// Cauchy-Green's tensor; C3 so that the undeformed state has no stress, C4 from Poisson's ratio.
    static Material mooney_rivlin(double density, double c1, double c2, double poisson) {
        Material m;
        m.law = Law::mooney_rivlin;
        m.density = density;
        m.c1 = c1, m.c2 = c2, m.c3 = 0.5 * c1 + c2;
        m.c4 = (c1 * (5 * poisson - 2) + c2 * (11 * poisson - 5)) / (2 * (1 - 2 * poisson));
        m.mu = 2 * (c1 + c2);
        m.lambda = 2 * m.mu * poisson / (1 - 2 * poisson);
        return m;
    }
    /// Whether points remember something: how far they have flowed (plastic.hpp).
    [[nodiscard]] bool plastic() const { return law == Law::von_mises; }
    /// Modulus of longitudinal waves, lambda + 2 mu, and their speed.
    [[nodiscard]] double modulus() const { return lambda + 2 * mu; }
    [[nodiscard]] double wave_speed() const { return std::sqrt(modulus() / density); }
    [[nodiscard]] double young() const { return mu * (3 * lambda + 2 * mu) / (lambda + mu); }

    /// Of a material that remembers nothing (for the others: plastic.hpp).
    [[nodiscard]] Stress stress(const Tensor& F) const;
};

namespace detail {

inline Lanes determinant(const Tensor& F) {
    return F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) +
           F[2] * (F[3] * F[7] - F[4] * F[6]);
}

/// F F^T, the left tensor of Cauchy and Green.
inline Symmetric left_cauchy_green(const Tensor& F) {
    const auto dot = [&](std::size_t a, std::size_t b) {
        return F[3 * a] * F[3 * b] + F[3 * a + 1] * F[3 * b + 1] + F[3 * a + 2] * F[3 * b + 2];
    };
    return {dot(0, 0), dot(1, 1), dot(2, 2), dot(0, 1), dot(1, 2), dot(2, 0)};
}

/// W = mu/2 (I1 - 3) - mu ln J + lambda/2 (ln J)^2; tau = mu (b - 1) + lambda ln J 1 (Bonet and Wood,
/// Nonlinear Continuum Mechanics for Finite Element Analysis, 2nd ed. 2008, eqs. 6.27, 6.29).
inline Stress neo_hookean(const Material& m, const Tensor& F) {
    const Lanes J = determinant(F), log_J = log(J);
    Symmetric b = left_cauchy_green(F);
    const Lanes energy =
        (0.5 * m.mu) * (b[0] + b[1] + b[2] - 3.0) - m.mu * log_J + (0.5 * m.lambda) * log_J * log_J;
    const Lanes pressure = m.lambda * log_J - m.mu;
    for (std::size_t c = 0; c < 6; ++c) b[c] = c < 3 ? m.mu * b[c] + pressure : m.mu * b[c];
    return {b, energy, J};
}

/// tau = 2 ((C1 + C2 I1) b - C2 b^2 + I3 dW/dI3 1).
inline Stress mooney_rivlin(const Material& m, const Tensor& F) {
    const Lanes J = determinant(F), I3 = J * J;
    const Symmetric b = left_cauchy_green(F);
    const Lanes I1 = b[0] + b[1] + b[2];
    const Symmetric square{b[0] * b[0] + b[3] * b[3] + b[5] * b[5], b[3] * b[3] + b[1] * b[1] + b[4] * b[4],
                           b[5] * b[5] + b[4] * b[4] + b[2] * b[2], b[0] * b[3] + b[3] * b[1] + b[5] * b[4],
                           b[3] * b[5] + b[1] * b[4] + b[4] * b[2], b[5] * b[0] + b[4] * b[3] + b[2] * b[5]};
    const Lanes I2 = 0.5 * (I1 * I1 - (square[0] + square[1] + square[2]));
    const Lanes inverse = 1.0 / (I3 * I3);
    const Lanes volumetric = (-2 * m.c3) * inverse + (2 * m.c4) * I3 * (I3 - 1.0);
    const Lanes linear = m.c1 + m.c2 * I1;
    Stress s;
    for (std::size_t c = 0; c < 6; ++c)
        s.kirchhoff[c] = 2.0 * (linear * b[c] - m.c2 * square[c] + (c < 3 ? volumetric : Lanes{}));
    s.energy =
        m.c1 * (I1 - 3.0) + m.c2 * (I2 - 3.0) + m.c3 * (inverse - 1.0) + m.c4 * (I3 - 1.0) * (I3 - 1.0);
    s.J = J;
    return s;
}

/// Hooke's law for e = (F + F^T)/2 - 1: small strains and rotations.
inline Stress linear(const Material& m, const Tensor& F) {
    const Symmetric e{F[0] - 1.0,          F[4] - 1.0,          F[8] - 1.0,
                      0.5 * (F[1] + F[3]), 0.5 * (F[5] + F[7]), 0.5 * (F[6] + F[2])};
    const Lanes trace = e[0] + e[1] + e[2], pressure = m.lambda * trace;
    Stress s;
    for (std::size_t c = 0; c < 6; ++c) s.kirchhoff[c] = (2 * m.mu) * e[c] + (c < 3 ? pressure : Lanes{});
    s.energy = 0.5 * pressure * trace + m.mu * (e[0] * e[0] + e[1] * e[1] + e[2] * e[2] +
                                                2.0 * (e[3] * e[3] + e[4] * e[4] + e[5] * e[5]));
    s.J = determinant(F);
    return s;
}

}  // namespace detail

inline Stress Material::stress(const Tensor& F) const {
    switch (law) {
        case Law::neo_hookean:
            return detail::neo_hookean(*this, F);
        case Law::mooney_rivlin:
            return detail::mooney_rivlin(*this, F);
        default:
            return detail::linear(*this, F);
    }
}

/// Operations of det F.
inline constexpr double kDeterminantOperations = 14;

/// Operations of Material::stress() and of the sum of squares of F, counted by hand for profiles.
constexpr double stress_operations(Law law) {
    constexpr double kLeftTensor = 30, kLogarithm = 28;
    constexpr double kSquares = 17, kSquaresBeside = 6;  // with the left tensor their products are there
    switch (law) {
        case Law::neo_hookean:  // energy 9, pressure 2, stress 9
            return kDeterminantOperations + kLeftTensor + kSquaresBeside + kLogarithm + 20;
        case Law::mooney_rivlin:  // I3 1, I1 2, b^2 27, I2 5, factors 2 + 5 + 2, stress 27, energy 13
            return kDeterminantOperations + kLeftTensor + kSquaresBeside + 84;
        default:  // linear: strain 9, trace and pressure 3, stress 9, energy 16
            return kDeterminantOperations + kSquares + 37;
    }
}

}  // namespace strata::mpm
