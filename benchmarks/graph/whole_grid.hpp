// The transport solver's steps by loops over all cells of a cube: no patches, no tasks, no layers. What the
// solver on the task graph is checked against.
#pragma once

#include <cstddef>
#include <vector>

#include "solvers/transport/settings.hpp"

namespace strata::bench::graph_layer {

class WholeGrid {
  public:
    /// `settings`: as many cells in each of three directions; the flow, if any, uniform and upwards in all of
    /// them. The field is the initial one. Beyond walls lies what is in the cell at the wall.
    explicit WholeGrid(const transport::Settings& settings);
    /// One step; `factor`: of the diffusivity or the velocity, 1 where nothing is to be wrong.
    void step(double factor);
    [[nodiscard]] double operator()(int i, int j, int k) const { return T_[at(i, j, k)]; }

  private:
    using Field = std::vector<double>;
    static constexpr int kBeyond = 2;  // cells that a step looks beyond a border

    [[nodiscard]] std::size_t at(int i, int j, int k) const {
        const auto n = static_cast<std::size_t>(n_);
        return inside(i) + n * (inside(j) + n * inside(k));
    }
    [[nodiscard]] std::size_t inside(int x) const { return inside_[static_cast<std::size_t>(x + kBeyond)]; }
    void conduct(double factor);
    /// T after a stage: less what the flow carries out of each cell by Fromm's fluxes.
    [[nodiscard]] Field advected(const Field& T, double factor) const;

    transport::Settings settings_;
    int n_;
    std::vector<std::size_t> inside_;  // [index + kBeyond]: the cell that it stands for
    Field T_;
};

}  // namespace strata::bench::graph_layer
