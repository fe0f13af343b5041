// A grid's patches cut in two by a plane, each half again, until each process has its part.
#include <algorithm>
#include <span>

#include "core/balance/space_curve.hpp"
#include "core/graph/expand/assign/assigning.hpp"

namespace strata::graph::detail {

namespace {

std::size_t z(int number) { return static_cast<std::size_t>(number); }

class CutAcross {
  public:
    CutAcross(const Grid& grid, const std::vector<double>& costs) : costs_(costs), owner_(costs.size()) {
        cells_.reserve(owner_.size());
        for (int patch = 0; patch < grid.patches(); ++patch) cells_.push_back(grid.box(patch));
        most_ = costs.empty() ? 0 : *std::max_element(costs.begin(), costs.end());
    }

    /// Shares patches out to processes `first` .. `first + count - 1`.
    void share(std::span<int> patches, int first, int count) {
        if (count == 1 || patches.empty()) {
            for (const int patch : patches) owner_[z(patch)] = first;
            return;
        }
        put_along_longest(patches);
        const int left = count / 2;
        std::vector<double> along;
        along.reserve(patches.size());
        for (const int patch : patches)  // equal costs are exactly 1: equal patches give the same cut
            along.push_back(most_ > 0 ? costs_[z(patch)] / most_ : 1);
        const std::vector<double> speeds{double(left), double(count - left)};
        const std::vector<int> half = balance::split_sequence(along, speeds);
        const auto middle = static_cast<std::size_t>(std::find(half.begin(), half.end(), 1) - half.begin());
        share(patches.first(middle), first, left);
        share(patches.subspan(middle), first + left, count - left);
    }

    [[nodiscard]] std::vector<int> owners() && { return std::move(owner_); }

  private:
    /// By layers across the longest extent, in a layer by rows across the next longest. Of equal extents z
    /// comes first: values of a layer along z lie together.
    void put_along_longest(std::span<int> patches) const {
        Box all;
        for (const int patch : patches) all = around(all, cells_[z(patch)]);
        std::array<std::size_t, 3> axes{2, 1, 0};
        std::stable_sort(axes.begin(), axes.end(), [&](std::size_t a, std::size_t b) {
            return all.extent(static_cast<int>(a)) > all.extent(static_cast<int>(b));
        });
        const auto place = [&](int patch) {
            const Int3& lo = cells_[z(patch)].lo;
            return Int3{lo[axes[0]], lo[axes[1]], lo[axes[2]]};
        };
        std::sort(patches.begin(), patches.end(), [&](int a, int b) { return place(a) < place(b); });
    }

    const std::vector<double>& costs_;
    double most_ = 0;
    std::vector<Box> cells_;
    std::vector<int> owner_;
};

}  // namespace

std::vector<int> cut_across(const Grid& grid, const std::vector<double>& costs, int processes) {
    CutAcross all(grid, costs);
    std::vector<int> patches = grid.order();
    all.share(patches, 0, processes);
    return std::move(all).owners();
}

}  // namespace strata::graph::detail
