#pragma once

#include "benchmarks/npb/flow/line_scheme.hpp"

namespace strata::npb::bt {

/// The approximate factorisation with full blocks (RNR-94-007, section 3; R. Beam, R. Warming, "An implicit
/// finite-difference algorithm for hyperbolic systems in conservation-law form", JCP 22, 1976): along each
/// line a block tridiagonal system, solved by elimination without exchange of rows. On lines in y and z the
/// momentum along the line is taken as the second component, so that all directions have one form.
class Scheme : flow::LineScheme {
  public:
    static constexpr int kValues = 10, kFactors = 25, kForward = 30, kBackward = 5;

    Scheme(const flow::Scale& scale, double dt, Break fault) : LineScheme(scale, dt, fault) {}

    template <int D>
    void gather(const flow::Cell& cell, flow::Bundle bundle, double* values) const;
    template <int D>
    void forward(const flow::Tile& tile, double* values, double* factors, Vec* carry) const;
    template <int D>
    void backward(const flow::Tile& tile, double* values, const double* factors, Vec* carry) const;
    template <int D>
    void scatter(const flow::Cell& cell, flow::Bundle bundle, double* values) const;

  private:
    // What lies in `values` for each point: the solution, then its change.
    enum Value : int { solution, change = flow::kComponents };
};

}  // namespace strata::npb::bt
