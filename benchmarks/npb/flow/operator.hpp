#pragma once

#include <vector>

#include "benchmarks/npb/flow/field.hpp"

namespace strata::npb::flow {

/// The explicit part of the scheme (RNR-94-007, section 3, the discretisation in space): second-order central
/// differences of the fluxes, and fourth differences that damp what the grid cannot carry.
///
/// It is swept over the planes of a box in increasing z; velocities and energies of three planes are kept, so
/// that each is computed once. An object for each worker.
class Operator {
  public:
    explicit Operator(const Tile& tile);

    /// Doubles of the memory that a sweep needs, aligned to cache lines and zeroed.
    [[nodiscard]] static std::size_t doubles(const Index& size);

    /// Before the first plane of a sweep.
    void begin(const Field& u, double* window);
    /// out = factor * (forcing + L u) on plane z within the boundary, and 0 in its rows on it. `forcing`
    /// without an origin counts as 0. Planes of one sweep follow one another.
    void plane(std::int64_t z, const Field& forcing, const Field& out, double factor);

  private:
    // Per unit of mass: velocities, kinetic energy, energy.
    static constexpr int kDerived = 5;
    struct Row;
    void derive(std::int64_t z);
    [[nodiscard]] double* derived(std::int64_t y, std::int64_t z) const;
    [[nodiscard]] Row row_at(std::int64_t y, std::int64_t z) const;
    void row(std::int64_t y, std::int64_t z, const Field& forcing, const Field& out, double factor) const;

    Tile tile_;
    std::array<Axis, 3> axes_;
    Field u_;
    double* window_ = nullptr;
    std::int64_t step_, next_ = 0;
    bool started_ = false;
    /// For each x: whether it is within the boundary, then the weights of diffusion and fourth differences.
    std::vector<double> inside_;
    std::array<std::vector<double>, 5> along_x_;
};

}  // namespace strata::npb::flow
