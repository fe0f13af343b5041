// Thermostats. Each changes velocities in the middle of a step's drift, between two halves of it: the
// "middle" scheme, in which velocities half a step ahead have the canonical distribution exactly (Z. Zhang,
// X. Liu, K. Yan, M. Tuckerman, J. Liu, J. Phys. Chem. A 123 (2019) 6056).
#pragma once

#include <array>
#include <cstdint>

#include "solvers/md/move.hpp"
#include "solvers/md/settings.hpp"

namespace strata::md {

/// A number of the gamma distribution with this shape (at least 1) and scale 1: G. Marsaglia, W. W. Tsang,
/// ACM Trans. Math. Softw. 26 (2000) 363. The numbers of a step and a seed.
[[nodiscard]] double gamma_number(double shape, std::int64_t step, std::uint32_t seed);

/// The factor of all velocities by which their kinetic energy goes on to one of the canonical distribution:
/// G. Bussi, D. Donadio, M. Parrinello, J. Chem. Phys. 126 (2007) 014101, equation A7.
[[nodiscard]] double rescaling(const Settings& s, double kinetic, double degrees, std::int64_t step);

/// A chain of three thermostats: G. J. Martyna, M. L. Klein, M. Tuckerman, J. Chem. Phys. 97 (1992) 2635.
struct Chain {
    static constexpr std::size_t kLinks = 3;
    std::array<double, kLinks> place{}, speed{};
    /// Goes on by a step, as G. J. Martyna et al., Mol. Phys. 87 (1996) 1117, equation 29 ff., without inner
    /// steps. Returns the factor of all velocities.
    double advance(const Settings& s, double kinetic, double degrees);
    /// What belongs to the conserved energy.
    [[nodiscard]] double energy(const Settings& s, double degrees) const;

  private:
    [[nodiscard]] double mass(const Settings& s, double degrees, std::size_t link) const;
};

/// Langevin's: v = keep v + noise R with friction 1 / time for a whole step.
struct Friction {
    double keep, noise;
};
[[nodiscard]] Friction friction(const Settings& s);
/// The drift of a patch's atoms with it in the middle, and then a change of the box. Noise depends on an
/// atom's number and the step; `noise` is that of the first kind, of share 1. species: none: all are of that
/// one. Adds what kinetic energy friction and noise give to `gained`; returns the square of the longest way.
/// groups: bits of each atom's, where some do not move by forces; none: all do.
double drift_with_noise(const Settings& s, std::int64_t count, double* const x[3], double* const v[3],
                        const std::int64_t* id, const std::int32_t* species, const double* shares,
                        const BoxChange& box, std::int64_t step, double& gained,
                        const std::int32_t* groups = nullptr);

}  // namespace strata::md
