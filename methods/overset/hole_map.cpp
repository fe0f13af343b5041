#include "methods/overset/hole_map.hpp"

#include <algorithm>
#include <cmath>

namespace strata::overset {

namespace {
constexpr int sides_of(int dimensions) { return dimensions == 2 ? 64 : 24; }
constexpr int kAround = 3;
}  // namespace

std::size_t HoleMap::cells(int dimensions) {
    const auto n = static_cast<std::size_t>(sides_of(dimensions));
    return dimensions == 2 ? n * n : n * n * n;
}

HoleMap::HoleMap(int dimensions, const Bounds& of_walls)
    : dimensions_(dimensions), sides_(sides_of(dimensions)) {
    double largest = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d)
        largest = std::max(largest, of_walls.hi[d] - of_walls.lo[d]);
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions); ++d) {
        const double extent = std::max(of_walls.hi[d] - of_walls.lo[d], 1e-6 * largest);
        size_[d] = extent / (sides_ - 2 * kAround);
        first_[d] = of_walls.lo[d] - kAround * size_[d];
    }
}

int HoleMap::line(double x, std::size_t axis, double by) const {
    return static_cast<int>(std::clamp(std::floor((x - first_[axis]) / size_[axis] + by), 0.0, sides_ - 1.0));
}

std::size_t HoleMap::number(const Int3& at) const {
    const auto n = static_cast<std::size_t>(sides_);
    return (static_cast<std::size_t>(at[2]) * n + static_cast<std::size_t>(at[1])) * n +
           static_cast<std::size_t>(at[0]);
}

void HoleMap::fill(const std::vector<bool>& marked) {
    cells_.assign(cells(dimensions_), Cell::inside);
    for (std::size_t n = 0; n < cells_.size(); ++n)
        if (marked[n]) cells_[n] = Cell::wall;
    std::vector<Int3> open{{0, 0, 0}};
    cells_[0] = Cell::outside;
    while (!open.empty()) {
        const Int3 at = open.back();
        open.pop_back();
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions_); ++a)
            for (const int by : {-1, 1}) {
                Int3 next = at;
                next[a] += by;
                if (next[a] < 0 || next[a] >= sides_ || cells_[number(next)] != Cell::inside) continue;
                cells_[number(next)] = Cell::outside;
                open.push_back(next);
            }
    }
}

HoleMap::Cell HoleMap::at(const Real3& x) const {
    Int3 cell{};
    for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) {
        const double c = (x[d] - first_[d]) / size_[d];
        if (!(c >= 0 && c < sides_)) return Cell::outside;
        cell[d] = static_cast<int>(c);
    }
    return cells_[number(cell)];
}

}  // namespace strata::overset
