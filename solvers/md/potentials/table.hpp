// Pair potentials from tables: files of LAMMPS's pair_style table (https://docs.lammps.org/pair_table.html).
//
//   # a comment
//   MORSE
//   N 500 R 1.0 8.0          (or RSQ LO HI; FPRIME F'(lo) F'(hi); neither: the distances in the lines)
//
//   1 1.00 25.5 102.34       (number, distance, energy, force)
//   ...
//
// As there: cubic splines through the file's values (slopes at the ends: -force of the energy; FPRIME, or
// the difference of two values, of the force) give energy and force at `points` distances that are
// equidistant in r^2 between the least distance and the cutoff. In a run, energy and force / r are
// interpolated between these by r^2: by lines, or by cubic splines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "solvers/md/pair/pairs.hpp"

namespace strata::md {

enum class Interpolation : std::uint8_t { linear, spline };

/// One pair potential. Immutable.
class PairFunction {
  public:
    struct Value {
        double energy, force_over_r;
    };
    /// The section of this name. cutoff: 0: the largest distance of the file. Throws Error with file and
    /// line.
    static PairFunction read(const std::filesystem::path& file, const std::string& section,
                             Interpolation interpolation, std::int64_t points, double cutoff = 0);

    [[nodiscard]] Value operator()(double square) const;
    /// Below this distance there is no value.
    [[nodiscard]] double least() const { return least_; }
    [[nodiscard]] double cutoff() const { return cutoff_; }

  private:
    struct Knot {
        double energy, force;            // force / r
        double energy_bend, force_bend;  // second derivatives by r^2; linear: 0
    };
    double least_ = 0, cutoff_ = 0, from_ = 0, step_ = 1;  // from_, step_: of r^2
    std::vector<Knot> knots_;
};

/// Adds the forces of all pairs; functions[a * species + b]. Throws Error where two atoms are closer than
/// their table begins.
Sums add_table_forces(const Pairs& pairs, const Sight& sight, int species,
                      std::span<const PairFunction> functions, double* const f[3]);

}  // namespace strata::md
