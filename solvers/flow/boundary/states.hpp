// Primitive values of a cell, from and to the conserved ones.
#pragma once

#include "core/graph/declare/view.hpp"
#include "solvers/flow/boundary/conditions.hpp"

namespace strata::flow {

/// nu_tilde is not set.
template <int Dim, class View>
[[nodiscard]] FlowState state_at(double gamma, const View& q, const graph::Int3& at) {
    FlowState state;
    state.rho = q(at[0], at[1], at[2], 0);
    double squares = 0;
    for (int d = 0; d < Dim; ++d) {
        const double momentum = q(at[0], at[1], at[2], 1 + d);
        state.u[static_cast<std::size_t>(d)] = momentum / state.rho;
        squares += momentum * momentum;
    }
    state.p = (gamma - 1) * (q(at[0], at[1], at[2], Dim + 1) - 0.5 * squares / state.rho);
    return state;
}

template <int Dim, class View>
void put_state(double gamma, const View& q, const graph::Int3& at, const FlowState& state) {
    double squares = 0;
    q(at[0], at[1], at[2], 0) = state.rho;
    for (int d = 0; d < Dim; ++d) {
        const double u = state.u[static_cast<std::size_t>(d)];
        q(at[0], at[1], at[2], 1 + d) = state.rho * u;
        squares += u * u;
    }
    q(at[0], at[1], at[2], Dim + 1) = state.p / (gamma - 1) + 0.5 * state.rho * squares;
}

}  // namespace strata::flow
