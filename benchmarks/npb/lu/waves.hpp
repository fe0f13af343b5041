#pragma once

#include <span>
#include <vector>

#include "benchmarks/npb/flow/domain.hpp"
#include "benchmarks/npb/lu/blocks.hpp"

namespace strata::npb::lu {

/// The triangular solves of an iteration of SSOR (RNR-94-007, section 3): (D + omega L) v = dt * residual
/// from the first point on, then (I + omega D^-1 U) w = v from the last one back, u += w / (omega (2 -
/// omega)). A point needs those before it along x, y and z.
///
/// Eight rows go together, each a point behind the one before it, so that they are lanes of one vector.
/// Blocks of rows (of workers, then of processes) follow one another by one plane, columns of processes
/// likewise: at step t block (i, j) has plane t - i - j.
class Waves {
  public:
    static constexpr double kOmega = 1.2;

    Waves(flow::Domain& domain, double dt, Break fault);
    [[nodiscard]] static std::vector<Need> needs(const flow::Partition& partition, int workers);

    /// Both solves. `rhs` of the domain has the residual, and is used up.
    void run();

  private:
    // One memory for each worker: rows under work, what v was before, what is handed to the next rows.
    struct Rows;
    [[nodiscard]] static std::size_t row_doubles(const flow::Index& size);
    [[nodiscard]] static int blocks_of(const flow::Partition& partition, int workers);

    template <int Way>
    void sweep();
    template <int Way>
    void plane(std::int64_t z, int block, std::int64_t step);
    template <int Way>
    void begin_rows(std::int64_t z, const Rows& rows);
    template <int Way>
    void solve_rows(std::int64_t z, const Rows& rows);
    template <int Way>
    void end_rows(std::int64_t z, const Rows& rows);
    template <int Way>
    void hand_on(std::int64_t step);
    [[nodiscard]] double* handed(int block, std::int64_t step);

    flow::Domain& domain_;
    Group& group_;
    const flow::Cell& cell_;
    const flow::Tile& tile_;
    double dt_;
    Break fault_;
    Diagonal diagonal_;
    std::array<Factors, 3> factors_;  // of the lower blocks; upper ones have the other sign of `first`
    std::int64_t width_;              // of a row, in eights
    int blocks_;
    std::span<double> scratch_, behind_, handed_, west_, east_;
};

}  // namespace strata::npb::lu
