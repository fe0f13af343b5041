// The stages of a steady run: iterations on coarser grids before those on the finest one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::flow {

class Stages {
  public:
    /// Iterations of each, of the coarsest grid first.
    explicit Stages(std::vector<std::int64_t> iterations) : iterations_(std::move(iterations)) {}

    struct Place {
        std::size_t stage = 0;
        std::int64_t iteration = 0;  // in it, from 0
    };
    /// Of a step, from 1 on. The last stage has no end.
    [[nodiscard]] Place at(std::int64_t step) const {
        Place place{0, step - 1};
        while (place.stage + 1 < iterations_.size() && place.iteration >= iterations_[place.stage])
            place.iteration -= iterations_[place.stage++];
        return place;
    }
    [[nodiscard]] std::size_t count() const { return iterations_.size(); }
    /// The last step.
    [[nodiscard]] std::int64_t end() const {
        std::int64_t all = 0;
        for (const std::int64_t n : iterations_) all += n;
        return all;
    }

  private:
    std::vector<std::int64_t> iterations_;
};

}  // namespace strata::flow
