#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "benchmarks/npb/common/group.hpp"
#include "benchmarks/npb/flow/field.hpp"

namespace strata::npb::flow {

/// Of the planes of a cell within the boundary (counted from the first of these) those that one worker has.
struct Part {
    std::size_t cell = 0;
    std::int64_t begin = 0, end = 0, planes = 0;

    [[nodiscard]] bool whole() const { return end - begin == planes; }
    /// As large a part of `count` other things, such as the cell's rows: where it begins, and where it ends.
    [[nodiscard]] std::int64_t first_of(std::int64_t count) const { return begin * count / planes; }
    [[nodiscard]] std::int64_t last_of(std::int64_t count) const { return end * count / planes; }
};

/// Which parts of which cells each worker has. Every plane is in one part.
class Division {
  public:
    /// Every cell's planes over all workers.
    [[nodiscard]] static Division even(std::span<const Tile> tiles, int workers);
    /// Cells that belong to workers in groups: `owners[cell]` is a group, `counts[group]` how many workers it
    /// has, which are numbered group by group. A group's cells are laid one after the other and cut where its
    /// workers have equal `costs`, at most between two planes.
    [[nodiscard]] static Division by_cost(std::span<const Tile> tiles, std::span<const double> costs,
                                          std::span<const int> owners, std::span<const int> counts);

    [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }
    [[nodiscard]] bool any_shared() const {
        return !std::ranges::all_of(parts_, [](const Part& part) { return part.whole(); });
    }
    /// A worker's parts are those from first(worker) to first(worker + 1) - 1.
    [[nodiscard]] std::size_t first(int worker) const { return first_[static_cast<std::size_t>(worker)]; }

  private:
    void close() { first_.push_back(parts_.size()); }
    std::vector<Part> parts_;
    std::vector<std::size_t> first_ = {0};
};

}  // namespace strata::npb::flow
