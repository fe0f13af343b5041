// The way to a minimum of the energy: FIRE, E. Bitzek, P. Koskinen, F. Gaehler, M. Moseler, P. Gumbsch,
// Phys. Rev. Lett. 97 (2006) 170201, as J. Guenole et al., Comput. Mater. Sci. 175 (2020) 109584 have it
// ("FIRE 2.0"): atoms move by semi-implicit steps, velocities turn to the forces, and where all go uphill
// they stop, half a step back.
#pragma once

#include <array>
#include <cstdint>

namespace strata::md {

/// What a step does to each atom, with force f and acceleration a:
///   way = back v;  v = keep (stay v + a dt) + turn f;  way += dt v
/// All 0: nothing moves any more.
struct Course {
    double back, stay, keep, turn, dt;
};

/// Sums over all atoms, and squares of the largest of one atom.
struct Slopes {
    double fv, vv, fa, aa, ff;
    double largest_a, largest_v;
};

/// The time step and the share of velocities that turns, from one step to the next.
class Fire {
  public:
    static constexpr std::size_t kKept = 4;
    using Kept = std::array<double, kKept>;

    explicit Fire(double step) : Fire({step, kFirstShare, 0, 0}, step) {}
    Fire(const Kept& kept, double step)
        : dt_(kept[0]), share_(kept[1]), downhill_(kept[2]), last_(kept[3]), first_(step) {}
    [[nodiscard]] Kept kept() const { return {dt_, share_, downhill_, last_}; }

    /// `longest`: what an atom may move in a step.
    [[nodiscard]] Course advance(const Slopes& now, std::int64_t step, double longest);

  private:
    // Those of Guenole et al., table 1.
    static constexpr double kFirstShare = 0.25, kShareFactor = 0.99, kFaster = 1.1, kSlower = 0.5;
    static constexpr double kMost = 10, kLeast = 0.02;  // of dt, in first ones
    static constexpr int kDelay = 20;

    double dt_, share_;
    double downhill_;  // steps since all went uphill
    double last_;      // by how much atoms moved in the step before
    double first_;
};

}  // namespace strata::md
