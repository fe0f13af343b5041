// The pairs of atoms of one patch that are near each other, and the Lennard-Jones forces between them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace strata::md {

/// What a patch sees: its own atoms first, those in its halo behind them. An array for each direction.
struct Sight {
    const double* x[3] = {};
    const std::int32_t* species = nullptr;  ///< none: all are species 0
    std::int64_t own = 0, all = 0;
};

/// mixed: a pair's arithmetic in float, on positions relative to the middle of the patch; sums in double.
enum class Precision { mixed, full };

/// none: truncated. energy: the potential is shifted to 0 at the cutoff. force: the force is, too, by a
/// linear term of the potential.
enum class Shift { none, energy, force };

/// Between species a and b, at [a * species + b]: 4 epsilon ((sigma / r)^12 - (sigma / r)^6) up to the
/// cutoff.
struct LennardJones {
    int species = 1;
    std::vector<double> epsilon, sigma, cutoff;
    Shift shift = Shift::energy;
};

/// virial: the sum over pairs of r f, of xx yy zz xy xz yz.
struct Sums {
    double energy = 0;
    double virial[6] = {};
};

/// The pairs of one patch, kept from one rebuild to the next.
class Pairs {
  public:
    /// All pairs closer than `reach` (largest cutoff + skin). counts[k]: whether those of own atoms with the
    /// halo's atom own + k belong to this patch; halo atoms have no pairs with each other.
    void build(const Sight& sight, std::span<const std::uint8_t> counts, double reach);
    /// Keeps, until the next pruning, to those closer than `inner` (the cutoff and what atoms move until
    /// then) at present.
    void prune(const Sight& sight, double inner);
    /// Adds the forces of these to f, of own atoms and of the halo's. Energy and virial where `sums` says so.
    Sums forces(const Sight& sight, const LennardJones& potential, Precision precision, bool sums,
                double* const f[3]) const;
    /// Calls each(i, j) for every pair closer than `reach` at the rebuild, and maybe for some beyond.
    template <class Each>
    void for_each(Each each) const {
        for (const auto& [i, j] : outer_) each(i, j);
    }
    [[nodiscard]] std::size_t bytes() const;

  private:
    using Pair = std::array<std::int32_t, 2>;
    std::vector<Pair> outer_, inner_;
};

}  // namespace strata::md
