#pragma once

#include "benchmarks/npb/flow/line_scheme.hpp"

namespace strata::npb::sp {

/// The diagonal form of the approximate factorisation (RNR-94-007, section 3, the scalar pentadiagonal
/// systems; T. Pulliam, D. Chaussee, "A diagonal form of an implicit approximate-factorization algorithm",
/// JCP 39, 1981): along each line three kinds of pentadiagonal systems, advected with v, v + c and v - c, v
/// being the velocity and c the speed of sound. Between directions the right-hand side goes from one
/// direction's eigenvectors to the next one's.
class Scheme : flow::LineScheme {
  public:
    static constexpr int kValues = 8, kFactors = 6, kForward = 22, kBackward = 10;

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
    // What lies in `values` for each point.
    enum Value : int { advection, diffusion, sound, change };
};

}  // namespace strata::npb::sp
