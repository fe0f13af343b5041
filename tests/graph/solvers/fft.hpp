// A spectral solver: 3-D Fourier transforms by transposes between three sets of pencils.
#pragma once

#include <complex>
#include <vector>

#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

using Complex = std::complex<double>;

/// x[k] = sum over j of x[j] exp(sign 2 pi i j k / n), for any n: by factors (Cooley and Tukey 1965, equation
/// 6), directly where n is prime.
void transform(std::vector<Complex>& x, int sign);

/// u_t = nu laplace(u) on a periodic box, exact in time: transform, damp each mode, transform back. Pencils
/// are of unequal sizes.
class Fft final : public Solver {
  public:
    explicit Fft(graph::Int3 n = {12, 10, 9}, double nu = 0.02);

    [[nodiscard]] Complex first(int i, int j, int k) const;
    [[nodiscard]] double damping(int i, int j, int k) const;

    graph::Int3 n;
    double nu;
    static constexpr double kStep = 0.1;
    const graph::Grid *along_x, *along_y, *along_z;
    graph::Field<Complex> u;         // on pencils along x
    graph::Field<Complex> spectrum;  // on pencils along z, before damping
    graph::Scalar<double> energy;    // sum of |u|^2 before the step
    graph::Scalar<double> modes;     // sum of |spectrum|^2 over the number of points
};

}  // namespace strata::tests
