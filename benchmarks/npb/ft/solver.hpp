#pragma once

#include <complex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/npb/common/group.hpp"
#include "benchmarks/npb/ft/ft.hpp"
#include "benchmarks/npb/ft/pencils.hpp"
#include "benchmarks/npb/ft/transform.hpp"

namespace strata::npb::ft {

/// Section 2.2.4: the transform V of the initial values once; in step t the inverse transform of
/// V e^(-4 alpha pi^2 |k|^2 t), and a checksum of it.
class Solver {
  public:
    Solver(const Problem& problem, Group& group, Break fault);

    /// Initial values and their transform.
    void start();
    /// The checksum of step t, from 1.
    [[nodiscard]] std::complex<double> step(int t);
    /// What start() and so many steps move in the memory of all processes.
    [[nodiscard]] double bytes(int steps) const;
    /// What they must move. A transform needs all of one direction before any of the last, so a step is two
    /// sweeps that read and write 16 bytes a point each; start() has no values to read in the first one.
    [[nodiscard]] double compulsory_bytes(int steps) const;

    [[nodiscard]] static std::vector<std::pair<std::string, std::uint64_t>> needs(const Problem& problem,
                                                                                  const Pencils& pencils,
                                                                                  int processes, int workers);

  private:
    /// One direction of the transform in pencils along it; with `inverse` the other sign.
    void along_x(std::int64_t z, int worker, bool inverse);
    void along_y(std::int64_t z, std::int64_t x_begin, std::int64_t x_end, int worker, bool inverse);
    void fill(std::int64_t z, int worker);
    void transform_z(int t);
    [[nodiscard]] std::complex<double> checksum() const;

    [[nodiscard]] double* scratch(int worker) const {
        return scratch_.data() + scratch_size_ * static_cast<std::size_t>(worker);
    }

    const Problem& problem_;
    Group& group_;
    Break fault_;
    Pencils pencils_;
    Box box_x_, box_y_, box_z_;
    Redistribution x_to_y_, y_to_z_, z_to_y_, y_to_x_;
    Transform fft_x_, fft_y_, fft_z_;
    Field spectrum_;             // V, in pencils along z
    Field in_x_, in_y_, in_z_;   // work; the same memory where the boxes are the same
    std::span<double> scratch_;  // of each worker
    std::size_t scratch_size_;
};

}  // namespace strata::npb::ft
