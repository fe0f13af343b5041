// The barostat: isotropic stochastic cell rescaling, M. Bernetti, G. Bussi, J. Chem. Phys. 153 (2020) 114107
// ("C-rescale"). The root of the volume, y = V^(1/2), moves as a particle without inertia among the energies
//
//   W(y) = H + p V - k T ln y,   dy = mobility F dt + (2 mobility k T)^(1/2) dR,   F = -dW/dy
//
// with mobility = compressibility / (4 time): then its noise is the same for all volumes (their equation 9).
// Places are scaled by the box's change, velocities by its inverse, so F needs the pressure alone:
// F = 2 y (P - p) + k T / y.
//
// The box is scaled in the middle of a step's drift, with F of the step's beginning. From the step's end, in
// a step back, F would be that of the end: so what the step adds to the conserved energy (their effective
// energy) is known exactly from both.
#pragma once

#include "solvers/md/labels.hpp"
#include "solvers/md/potentials/long_range.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

/// Of all atoms at one moment: kinetic energy and trace of the virial.
struct Moment {
    double kinetic, virial;
};
/// From sums that are due in a step.
template <class List>
[[nodiscard]] Moment moment_of(const Settings& s, const List& sums) {
    const auto trace = [&](std::int64_t first) { return sums[first] + sums[first + 1] + sums[first + 2]; };
    return {s.kinetic_unit() * trace(kKinetic), trace(kVirial)};
}

class Barostat {
  public:
    /// `beyond`: what pairs beyond the cutoff add.
    Barostat(const Settings& s, const LongRange& beyond);

    /// The scale of the box after the step's one, with random numbers of the step.
    [[nodiscard]] double advance(const Moment& now, double scale, std::int64_t step) const;
    /// What a step from one moment and scale to another adds to the conserved energy, besides what `energy`
    /// is of both.
    [[nodiscard]] double work(const Moment& before, double scale_before, const Moment& after,
                              double scale_after) const;
    /// p V - k T ln y.
    [[nodiscard]] double energy(double scale) const;

  private:
    [[nodiscard]] double volume(double scale) const { return first_volume_ * scale * scale * scale; }
    [[nodiscard]] double force(const Moment& now, double scale) const;

    LongRange beyond_;
    double first_volume_, pressure_, heat_, mobility_, interval_;
    std::uint32_t seed_;
};

/// Pair parameters in a box whose lengths are divided by `scale`: forces are the real ones, energy and virial
/// are to be multiplied by `scale`.
[[nodiscard]] LennardJones shrunk(const LennardJones& real, double scale);

}  // namespace strata::md
