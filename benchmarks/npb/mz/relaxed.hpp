#pragma once

#include <vector>

#include "benchmarks/npb/lu/solve.hpp"
#include "benchmarks/npb/mz/busy.hpp"
#include "benchmarks/npb/mz/mesh.hpp"

namespace strata::npb::mz {

/// An iteration of LU over zones: they take their neighbours' values, both triangular solves, then the
/// residual. Workers share out whole zones, or blocks of rows of each zone that follow one another plane by
/// plane, whichever keeps more of them at work.
class Relaxed {
  public:
    Relaxed(Mesh& mesh, double dt, Break fault, Busy& busy);
    [[nodiscard]] static std::vector<Need> needs(const Zones& zones, int ranks, int workers);

    void iterate();

  private:
    struct Task {
        std::size_t cell;
        int block;
    };
    template <int Way>
    void sweep();

    Mesh& mesh_;
    Busy& busy_;
    std::vector<lu::Solve> solves_;         // [cell]
    std::vector<std::vector<Task>> tasks_;  // [worker]
    std::int64_t planes_ = 0;
    int most_blocks_ = 1;
    std::size_t room_ = 0;  // of a worker in scratch_, in doubles
    std::span<double> scratch_;
};

}  // namespace strata::npb::mz
