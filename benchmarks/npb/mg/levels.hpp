#pragma once

#include <array>
#include <string>
#include <vector>

#include "benchmarks/npb/common/group.hpp"
#include "benchmarks/npb/mg/halo.hpp"
#include "benchmarks/npb/mg/kernels.hpp"
#include "benchmarks/npb/mg/mg.hpp"

namespace strata::npb::mg {

/// One grid of the hierarchy: 2^k points in each direction.
struct Level {
    std::int64_t n = 0;
    bool divided = true;  // over processes; else each has all of it, and computes the same
    /// Planes are whole, and each worker has enough of them, so that operators that follow one another can
    /// run plane by plane, while what they share is in the cache.
    bool swept = false;
    std::array<std::int64_t, 3> begin{};  // of this process's block
    Field u, r;
};

/// The hierarchy of section 2.2.2: levels 1 to lt, u and r on each, v on the finest.
class Levels {
  public:
    Levels(const Problem& problem, Group& group);

    [[nodiscard]] int finest() const { return problem_.levels; }
    [[nodiscard]] Level& level(int k) { return levels_[static_cast<std::size_t>(k)]; }
    [[nodiscard]] const Field& v() const { return v_; }
    [[nodiscard]] Group& group() const { return group_; }
    [[nodiscard]] const Weights& smoother() const { return smoother_; }
    /// What is around the blocks of level k.
    [[nodiscard]] Halo& halo(int k) { return level(k).divided ? divided_ : whole_; }
    /// The part of level k - 1 that belongs to this process's block of level k: a view of u or r.
    [[nodiscard]] Field coarse_part(int k, const Field& coarse);
    /// Where level k - 1 is not divided and level k is: brings all processes' parts together.
    void unite(int k, const Field& coarse);
    /// Zeroes u of the finest level and sets v anew.
    void reset();
    /// This worker's scratch rows.
    [[nodiscard]] Scratch scratch(int worker) const;

    /// Bytes that one process of such a group takes, by array.
    [[nodiscard]] static std::vector<std::pair<std::string, std::uint64_t>> needs(const Problem& problem,
                                                                                  int processes, int workers);
    /// Whether the finest grid is swept.
    [[nodiscard]] static bool sweeps(const Problem& problem, int processes, int workers);

  private:
    const Problem& problem_;
    Group& group_;
    const Weights& smoother_;
    Grid grid_;
    Halo divided_, whole_;
    std::vector<Level> levels_;
    Field v_;
    std::span<double> scratch_;
    std::size_t scratch_row_;
    std::vector<double> mine_, all_;
    std::array<std::vector<std::int64_t>, 2> charges_;  // places in v that are this process's
};

}  // namespace strata::npb::mg
