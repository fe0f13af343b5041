// Conjugate gradients with a preconditioner of two levels: subdomains of unequal sizes are solved each by
// itself, and a coarse problem, of unequal numbers of unknowns on each, is solved on one patch or a few.
#pragma once

#include <vector>

#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

/// So many subdomains of a line, of ten sizes in turn.
struct Subdomains {
    int count = 10;
    [[nodiscard]] int size(int p) const;
    /// Coarse vectors: powers of the place within p. Two at least: of constants alone, which jump where
    /// subdomains meet, rounds grow with their number. None of a subdomain that does not exist.
    [[nodiscard]] int vectors(int p) const { return p < 0 || p >= count ? 0 : 2 + p % 2; }
    /// Value k of coarse vector `power` of p.
    [[nodiscard]] double vector(int p, int power, int k) const;
    [[nodiscard]] int unknowns() const;
    [[nodiscard]] int coarse_unknowns() const;
};

/// -u_(i-1) + 2 u_i - u_(i+1) = b_i on a line whose ends are fixed. The preconditioner is additive (Toselli
/// and Widlund, Domain Decomposition Methods, 2005, section 2.2): z = sum R_p' A_p^-1 R_p r + W E^-1 W' r
/// with E = W' A W; the columns of W are the coarse vectors.
class TwoLevel final : public Solver {
  public:
    /// `coarse_patches`: so many solve the same coarse problem; 0: none does, there is one level.
    explicit TwoLevel(int coarse_patches = 2, Subdomains parts = {});

    [[nodiscard]] static double load(int i, std::int64_t step);
    static constexpr double kTolerance = 1e-9;

    graph::Grid* line = nullptr;
    graph::Field<double> u;
    graph::List<double> factor;  // on the coarse patches: Cholesky's, row after row
    graph::Scalar<double> rounds;

  private:
    void declare_coarse(int coarse_patches);
    void declare_solve();

    Subdomains parts_;
    graph::Field<double> r_, z_, p_, q_;
    graph::List<double> restricted_, coarse_;
    const graph::Collect* all_ = nullptr;
    const graph::Gather* back_ = nullptr;
    const graph::Family* few_ = nullptr;
};

}  // namespace strata::tests
