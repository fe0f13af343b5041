#pragma once

#include "benchmarks/npb/mg/levels.hpp"

namespace strata::npb::mg {

/// u = u + M^k r (section 2.2.2), r = v - A u: one V-cycle. Where planes can be swept, operators that
/// follow one another run plane by plane, and what neighbours need is computed and sent before; else each
/// runs over the whole block, and neighbours' values are exchanged between them.
class Cycle {
  public:
    Cycle(Levels& levels, Break fault);

    /// Where `another` one follows, its beginning on the finest grid, residual and restriction, is part of
    /// this one's last sweep, so that u and v come from memory once.
    void run(bool another);
    /// L2 norm of v - A u: the root of the mean square.
    [[nodiscard]] double norm();
    /// What so many cycles move in the memory of all processes, by the loops as they are written.
    [[nodiscard]] double bytes(int cycles);
    /// What so many cycles must move in the memory of all processes. A cycle needs all of a residual before
    /// any of its correction, so each grid is swept down and up. On the finest the way up and the next way
    /// down can be one sweep, which reads u and v and writes u; on each other one the residual is written on
    /// the way down and read on the way up, and what passes from grid to grid need not be stored.
    [[nodiscard]] double compulsory_bytes(int cycles);

    /// Bytes of what workers keep while they sweep so many planes of a grid of n^3 points.
    [[nodiscard]] static std::uint64_t window_bytes(std::int64_t n, std::int64_t planes, int workers);

  private:
    // Section 2.2.2: down to the coarsest grid, there a smoothing, and up again.
    void down(int k);
    void bottom();
    void up(int k, bool another);

    void residual_and_restrict();
    void restrict_planes(std::int64_t begin, std::int64_t end, int worker);
    void restrict_from(int k, const Field& r);
    void sweep_up(int k, bool restricts);
    void pass_up(int k);
    class Upward;

    /// Planes of residuals that a worker keeps while it sweeps: three in turn, its first and last one, and
    /// three of the next cycle's.
    [[nodiscard]] Plane window(int k, int worker, std::int64_t i) const {
        return kept(k, worker * kWindow + i);
    }
    /// The residuals' planes below the first and above the last of this process's, where others have them.
    [[nodiscard]] Plane from_below(int k) const { return kept(k, group_.workers() * kWindow); }
    [[nodiscard]] Plane from_above(int k) const { return kept(k, group_.workers() * kWindow + 1); }
    [[nodiscard]] Plane kept(int k, std::int64_t i) const;
    /// Where a sweep that goes strip by strip keeps rows of plane z's residuals: the first strip's rows 0 and
    /// 1, behind a place for the one before them, and the last three rows of the strip before.
    [[nodiscard]] Plane around_first_row(int k, std::int64_t z) const { return edge_rows(k, z, 1); }
    [[nodiscard]] Plane strip_before(int k, std::int64_t z) const { return edge_rows(k, z, 3); }
    [[nodiscard]] Plane edge_rows(int k, std::int64_t z, std::int64_t first) const;
    /// A kept plane with what is around it.
    [[nodiscard]] std::span<double> memory(int k, Plane plane) const;

    static constexpr std::int64_t kWindow = 8;            // planes of a worker
    static constexpr std::int64_t kFirst = 3, kLast = 4;  // of them those that neighbours read
    static constexpr std::int64_t kSmoothed = 5;          // and three in turn of what is smoothed
    static constexpr std::int64_t kEdgeRows = 6;          // of each plane of a process

    Levels& levels_;
    Group& group_;
    Break fault_;
    std::span<double> window_;
    std::size_t window_plane_ = 0;
    bool within_done_ = false;  // the cycle before has begun this one, but for planes between workers' parts
};

}  // namespace strata::npb::mg
