// Conjugate gradients on unstructured subdomains: the heat equation, implicit in time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tests/graph/solvers/solver.hpp"

namespace strata::tests {

/// Triangles on the unit square with points moved off a lattice, in subdomains of irregular shape (those
/// nearest to one of a few seeds).
struct Mesh {
    Mesh(int cells, int subdomains, std::uint64_t seed);
    [[nodiscard]] int points() const { return static_cast<int>(at.size()); }

    std::vector<std::array<double, 2>> at;      // [point]
    std::vector<bool> fixed;                    // [point] on the border
    std::vector<std::array<int, 3>> triangles;  //
    std::vector<int> part;                      // [triangle] -> subdomain
    int parts;
};

/// A sparse matrix by rows; linear elements (Hughes 2000, The Finite Element Method, section 3.2).
struct Sparse {
    std::vector<int> first, column;
    std::vector<double> mass, stiffness;  // lumped mass on the diagonal; both without fixed points
};

/// What one subdomain has: its points by their number in the mesh, ascending, and its share of the matrices.
struct Subdomain {
    std::vector<int> points;
    std::vector<std::uint8_t> fixed, counts;  // counts: this subdomain is the first that has the point
    Sparse matrix;
};

/// Each step solves (M + dt K) u' = M u + dt M f(t) to a residual below `kTolerance` by conjugate gradients
/// (Hestenes and Stiefel 1952, section 3), beginning with u.
class Gradients final : public Solver {
  public:
    explicit Gradients(int cells = 18, int subdomains = 7);

    static constexpr double kStep = 0.05, kTolerance = 1e-12;
    static constexpr int kMost = 400;
    /// What heats, at a point, in a step.
    static double source(double x, double y, std::int64_t step);

    Mesh mesh;
    std::vector<Subdomain> subdomains;
    graph::List<double> u;
    graph::List<std::int64_t> rounds;  // of all steps, on each subdomain
    graph::Scalar<double> residual;    // squared

  private:
    void declare();
};

}  // namespace strata::tests
