#pragma once

#include "benchmarks/npb/mg/levels.hpp"

namespace strata::npb::mg {

/// u = u + M^k r (section 2.2.2), r = v - A u: one V-cycle. Where planes of one memory can be swept,
/// operators that follow one another run plane by plane; else each runs over the whole block, and neighbours'
/// values are exchanged between them.
class Cycle {
  public:
    Cycle(Levels& levels, Break fault);

    void run();
    /// L2 norm of v - A u: the root of the mean square.
    [[nodiscard]] double norm();
    /// What run() moves in the memory of all processes, by the loops as they are written.
    [[nodiscard]] double bytes();

    /// Bytes of the planes that workers keep while they sweep a grid of n^3 points.
    [[nodiscard]] static std::uint64_t window_bytes(std::int64_t n, int workers);

  private:
    // Section 2.2.2: down to the coarsest grid, there a smoothing, and up again.
    void down(int k);
    void bottom();
    void up(int k);

    void residual_and_restrict();
    void restrict_from(int k, const Field& r);
    void sweep_up(int k);
    void pass_up(int k);

    /// Planes of residuals that a worker keeps while it sweeps: three in turn, then its first and last one.
    [[nodiscard]] Plane window(int k, int worker, std::int64_t i) const;
    [[nodiscard]] static Slab slab(const Field& f, std::int64_t z) {
        return {f.plane(z - 1), f.plane(z), f.plane(z + 1)};
    }

    Levels& levels_;
    Group& group_;
    Break fault_;
    std::span<double> window_;
    std::size_t window_plane_ = 0;
};

}  // namespace strata::npb::mg
