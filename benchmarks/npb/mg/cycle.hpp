#pragma once

#include "benchmarks/npb/mg/levels.hpp"

namespace strata::npb::mg {

/// u = u + M^k r (section 2.2.2), r = v - A u: one V-cycle. Where planes can be swept, operators that
/// follow one another run plane by plane, and what neighbours need is computed and sent before; else each
/// runs over the whole block, and neighbours' values are exchanged between them.
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
    [[nodiscard]] Plane window(int k, int worker, std::int64_t i) const {
        return kept(k, worker * kWindow + i);
    }
    /// The residuals' planes below the first and above the last of this process's, where others have them.
    [[nodiscard]] Plane from_below(int k) const { return kept(k, group_.workers() * kWindow); }
    [[nodiscard]] Plane from_above(int k) const { return kept(k, group_.workers() * kWindow + 1); }
    [[nodiscard]] Plane kept(int k, std::int64_t i) const;
    /// A kept plane with what is around it.
    [[nodiscard]] std::span<double> memory(int k, Plane plane) const;
    [[nodiscard]] static Slab slab(const Field& f, std::int64_t z) {
        return {f.plane(z - 1), f.plane(z), f.plane(z + 1)};
    }

    static constexpr std::int64_t kWindow = 5;            // planes of a worker
    static constexpr std::int64_t kFirst = 3, kLast = 4;  // of them those that neighbours read

    Levels& levels_;
    Group& group_;
    Break fault_;
    std::span<double> window_;
    std::size_t window_plane_ = 0;
};

}  // namespace strata::npb::mg
