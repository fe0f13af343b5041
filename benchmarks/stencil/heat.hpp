// The heat equation on a cube with cold walls, one explicit step after the other, and what it must come to.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/group.hpp"
#include "benchmarks/stencil/blocks.hpp"

namespace strata::bench::stencil {

/// u <- u + ratio (sum of the six neighbours - 6 u), forward Euler and centred differences on n^3 cells with
/// u = 0 beyond: ratio = diffusivity dt / h^2, h = 1 / (n + 1). The product of sines of `modes` half waves
/// along z, y and x is an eigenvector of that step (LeVeque, Finite Difference Methods for Ordinary and
/// Partial Differential Equations, SIAM 2007, equations 2.23 and 2.24 in each direction), so k steps multiply
/// it by amplification^k (von Neumann analysis, section 9.6 there).
class Mode {
  public:
    /// A mode of a cube of n cells an edge that is still seen after `steps`: the ratio is 1/8, within the
    /// limit of stability 1/6, or so much smaller that the mode keeps a tenth of its height.
    Mode(int n, long steps);

    [[nodiscard]] double ratio() const { return ratio_; }
    [[nodiscard]] double amplification() const { return 1 - drop_; }
    /// amplification^steps.
    [[nodiscard]] double after(long steps) const;
    /// The sine along one direction at cell i, from 0 to n - 1.
    [[nodiscard]] double sine(Direction direction, int i) const;

  private:
    int n_;
    Triple half_waves_;
    double ratio_ = 0, drop_ = 0;
};

/// One process's block of the cube, with a copy of the cells next to it. Its rows (all x of one y and z) are
/// dealt over the threads in one piece each; a thread touches its own first, and always works on the same.
class Field {
  public:
    Field(const Block& block, const Mode& mode);
    Field(const Field&) = delete;
    Field& operator=(const Field&) = delete;

    /// `steps` steps, with the faces exchanged before each. Returns this process's seconds in the exchange
    /// (packing, messages with the wait for those who are late, unpacking), as its first thread sees them.
    double advance(Group& group, long steps);

    /// The largest |u - amplification^steps u0| of this block, where `steps` have been made in all; u0 is at
    /// most 1.
    [[nodiscard]] double error(long steps) const;

    /// For tests of the verification: adds to one cell in the middle.
    void disturb(double by);

    /// Bytes that this process sends a step.
    [[nodiscard]] std::size_t bytes_sent() const;
    [[nodiscard]] std::size_t huge_bytes() const {
        return first_.memory().huge_bytes() + second_.memory().huge_bytes();
    }
    /// What both arrays of a block take.
    [[nodiscard]] static std::size_t bytes(const Block& block) {
        return 2 * sizeof(double) * elements(block);
    }

  private:
    /// A face that is exchanged, packed: what goes out, and what comes in.
    struct Face {
        Direction direction;
        int side;  // 0 before the block, 1 after it
        Array<double> out, in;
    };
    struct Rows {
        int first, last;  // numbered k * (rows of a plane) + j
    };
    static constexpr std::size_t kLine = 8;  // doubles of a cache line; rows begin on one
    static std::size_t pitch_of(const Block& block);
    static std::size_t plane_of(const Block& block);
    static std::size_t elements(const Block& block);

    /// Where the cell of plane k, row j and column i is; -1 and the count are those of the neighbours.
    [[nodiscard]] std::size_t cell(int k, int j, int i) const {
        return kLine + static_cast<std::size_t>(k + 1) * plane_ + static_cast<std::size_t>(j + 1) * pitch_ +
               static_cast<std::size_t>(i);
    }
    [[nodiscard]] std::size_t width() const { return static_cast<std::size_t>(counts_[kX]); }
    [[nodiscard]] double initial(int k, int j, int i) const {
        return sines_[kZ][static_cast<std::size_t>(k)] * sines_[kY][static_cast<std::size_t>(j)] *
               sines_[kX][static_cast<std::size_t>(i)];
    }
    [[nodiscard]] Rows rows_of(int thread, int threads) const;
    template <class F>
    void each_row(Rows rows, F&& work) const;
    /// The parts of all faces that lie on these rows: out of the block's own cells, or into its halo.
    template <bool Out>
    void copy_faces(Rows rows, double* values);

    Mode mode_;
    Triple counts_;
    std::size_t pitch_, plane_;
    Array<double> first_, second_;
    double *now_, *next_;
    std::array<std::vector<double>, 3> sines_;
    std::vector<Face> faces_;
    std::vector<Swap> swaps_;
};

/// What one update of a cell moves at least, one read and one write of it, and computes.
inline constexpr double kBytesACell = 16, kFlopsACell = 8;

}  // namespace strata::bench::stencil
