// A grid whose nodes are worked out when they are asked for.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

class ComputedGrid final : public GridSource {
  public:
    using At = std::function<Real3(int zone, const Int3& node)>;
    ComputedGrid(int dimensions, std::vector<ZoneShape> zones, At at)
        : dimensions_(dimensions), zones_(std::move(zones)), at_(std::move(at)) {}

    [[nodiscard]] std::span<const ZoneShape> zones() const override { return zones_; }
    [[nodiscard]] int dimensions() const override { return dimensions_; }
    void nodes(int zone, const Box& nodes, double* x) const override {
        const std::int64_t count = nodes.volume();
        std::int64_t n = 0;
        graph::for_each(nodes, [&](int i, int j, int k) {
            const Real3 at = at_(zone, {i, j, k});
            for (int d = 0; d < dimensions_; ++d) x[d * count + n] = at[static_cast<std::size_t>(d)];
            ++n;
        });
    }

  private:
    int dimensions_;
    std::vector<ZoneShape> zones_;
    At at_;
};

}  // namespace strata::flow
