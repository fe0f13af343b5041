// Nodes of a face, for finding and checking joins.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "methods/curvilinear/grid.hpp"
#include "methods/curvilinear/ranges.hpp"

namespace strata::flow {

[[nodiscard]] inline double distance(const Real3& a, const Real3& b) {
    return std::sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                     (a[2] - b[2]) * (a[2] - b[2]));
}

/// x = turn y + shift.
[[nodiscard]] inline Real3 image(const graph::Rotation& turn, const Real3& shift, const Real3& y) {
    Real3 x = shift;
    for (std::size_t r = 0; r < 3; ++r)
        for (std::size_t c = 0; c < 3; ++c) x[r] += turn[r][c] * y[c];
    return x;
}

/// The places of some nodes of a face. In two dimensions nodes at k = 1 are those at k = 0.
class FaceNodes {
  public:
    FaceNodes(const GridSource& source, int zone, const Points& points) : dimensions_(source.dimensions()) {
        for (std::size_t a = 0; a < 3; ++a) box_.lo[a] = points.begin[a], box_.hi[a] = points.end[a] + 1;
        if (dimensions_ == 2) box_.lo[2] = 0, box_.hi[2] = 1;
        count_ = static_cast<std::size_t>(box_.volume());
        x_.resize(static_cast<std::size_t>(dimensions_) * count_);
        source.nodes(zone, box_, x_.data());
    }
    [[nodiscard]] Real3 operator()(const Int3& node) const {
        const int k = dimensions_ == 2 ? 0 : node[2] - box_.lo[2];
        const auto n = (static_cast<std::size_t>(k) * static_cast<std::size_t>(box_.extent(1)) +
                        static_cast<std::size_t>(node[1] - box_.lo[1])) *
                           static_cast<std::size_t>(box_.extent(0)) +
                       static_cast<std::size_t>(node[0] - box_.lo[0]);
        Real3 x{};
        for (std::size_t d = 0; d < static_cast<std::size_t>(dimensions_); ++d) x[d] = x_[d * count_ + n];
        return x;
    }
    /// The shortest edge on the face at a node that is longer than nothing; 0 where there is none.
    [[nodiscard]] double shortest_edge(const Int3& node) const {
        double shortest = 0;
        for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions_); ++a)
            for (const int by : {-1, 1}) {
                Int3 other = node;
                other[a] += by;
                if (other[a] < box_.lo[a] || other[a] >= box_.hi[a]) continue;
                const double length = distance((*this)(node), (*this)(other));
                if (length > 0) shortest = shortest > 0 ? std::min(shortest, length) : length;
            }
        return shortest;
    }

  private:
    int dimensions_;
    Box box_;
    std::size_t count_ = 0;
    std::vector<double> x_;
};

/// Points match where they are this share of the shortest edge at them apart, or closer.
inline constexpr double kMatch = 0.01;

}  // namespace strata::flow
