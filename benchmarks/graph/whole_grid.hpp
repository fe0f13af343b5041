// The transport solver's steps by loops over all cells of a periodic cube: no patches, no tasks, no layers.
// What the solver on the task graph is checked against.
#pragma once

#include <cstddef>
#include <vector>

#include "solvers/transport/settings.hpp"

namespace strata::bench::graph_layer {

class WholeGrid {
  public:
    /// `settings`: periodic, as many cells in each of three directions; the flow, if any, uniform and upwards
    /// in all of them. The field is the initial one.
    explicit WholeGrid(const transport::Settings& settings);
    /// One step; `factor`: of the diffusivity or the velocity, 1 where nothing is to be wrong.
    void step(double factor);
    [[nodiscard]] double operator()(int i, int j, int k) const { return T_[at(i, j, k)]; }

  private:
    using Field = std::vector<double>;
    [[nodiscard]] std::size_t at(int i, int j, int k) const;
    void conduct(double factor);
    /// T after a stage: less what the flow carries out of each cell by Fromm's fluxes.
    [[nodiscard]] Field advected(const Field& T, double factor) const;

    transport::Settings settings_;
    int n_;
    Field T_;
};

}  // namespace strata::bench::graph_layer
