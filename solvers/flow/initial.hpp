// First values, and the exact solutions that results are compared with.
#pragma once

#include <array>

#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/exact.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

/// The flow that a case begins with, which for the vortex and the shock tube is known at any time.
class Initial {
  public:
    Initial(const Settings& settings, int dimensions);
    [[nodiscard]] FlowState at(const Real3& x, double time) const;

  private:
    enum class Kind { uniform, vortex, shock_tube, blast_waves } kind_;
    FlowState far_;
    IsentropicVortex vortex_;
    RiemannProblem tube_;
    double place_;
    Real3 period_{};
};

/// rho, rho u, rho E.
template <int Dim>
std::array<double, Dim + 2> conserved_of(const FlowState& state, double gamma) {
    std::array<double, Dim + 2> q{};
    q[0] = state.rho;
    double square = 0;
    for (std::size_t d = 0; d < Dim; ++d)
        q[1 + d] = state.rho * state.u[d], square += state.u[d] * state.u[d];
    q[Dim + 1] = state.p / (gamma - 1) + 0.5 * state.rho * square;
    return q;
}

}  // namespace strata::flow
