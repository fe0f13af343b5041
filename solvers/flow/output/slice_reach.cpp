#include "solvers/flow/output/slice_reach.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

namespace strata::flow {

namespace {

/// Follows what tells a cut over boxes of nodes of one zone.
class Walk {
  public:
    Walk(const Slice& slice, const GridSource& source, int zone)
        : slice_(slice), source_(source), zone_(zone) {}

    /// Over a box from its first node on, where the value is near `from`. Returns that at its last node.
    double over(const Box& box, double from) {
        const auto dimensions = static_cast<std::size_t>(source_.dimensions());
        const auto count = static_cast<std::size_t>(box.volume());
        x_.resize(dimensions * count);
        source_.nodes(zone_, box, x_.data());
        std::size_t n = 0;
        double layer = from, last = from;
        for (int k = box.lo[2]; k < box.hi[2]; ++k) {
            double row = layer;
            for (int j = box.lo[1]; j < box.hi[1]; ++j) {
                last = row;
                for (int i = box.lo[0]; i < box.hi[0]; ++i, ++n) {
                    last = value(n, count, last);
                    low = std::min(low, last), high = std::max(high, last);
                    if (i == box.lo[0]) row = last;
                }
                if (j == box.lo[1]) layer = row;
            }
        }
        return last;
    }
    double low = HUGE_VAL, high = -HUGE_VAL;

  private:
    [[nodiscard]] double value(std::size_t n, std::size_t count, double near) const {
        const auto axis = static_cast<std::size_t>(slice_.axis);
        if (slice_.kind == Slice::Kind::plane) return x_[axis * count + n];
        const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3;
        const double u = x_[a * count + n] - slice_.centre[a], v = x_[b * count + n] - slice_.centre[b];
        if (u == 0 && v == 0) return near;  // the axis has no angle
        const double angle = std::atan2(v, u) * 180 / std::numbers::pi;
        return angle + 360 * std::round((near - angle) / 360);
    }
    const Slice& slice_;
    const GridSource& source_;
    int zone_;
    std::vector<double> x_;
};

/// The extremes lie on faces. All are followed from the zone's first node, along its edges.
Reach of_zone(const Slice& slice, const GridSource& source, int zone) {
    Walk walk(slice, source, zone);
    const Box all = source.node_box(zone);
    const Box first{all.lo, {all.lo[0] + 1, all.lo[1] + 1, all.lo[2] + 1}};
    const double from = walk.over(first, 0);
    for (std::size_t d = 0; d < static_cast<std::size_t>(source.dimensions()); ++d) {
        Box edge = first, lower = all, upper = all;
        edge.hi[d] = all.hi[d], lower.hi[d] = all.lo[d] + 1, upper.lo[d] = all.hi[d] - 1;
        (void)walk.over(lower, from);
        (void)walk.over(upper, walk.over(edge, from));
    }
    return {walk.low, walk.high};
}

/// Meshes that are periodic by rotation; where none is, all.
std::set<int> meshes_of(const Slice& slice, const GridSystem& grid) {
    const auto mesh_of = [&](int zone) {
        return grid.mesh.empty() ? 0 : grid.mesh[static_cast<std::size_t>(zone)];
    };
    std::set<int> all, turned;
    for (int zone = 0; zone < static_cast<int>(grid.source->zones().size()); ++zone)
        all.insert(mesh_of(zone));
    if (slice.kind == Slice::Kind::azimuth)
        for (const JoinRange& join : grid.joins)
            if (join.turn != graph::kNoRotation) turned.insert(mesh_of(join.zone));
    return turned.empty() ? all : turned;
}

}  // namespace

bool is_sector(const GridSystem& grid) {
    return std::any_of(grid.joins.begin(), grid.joins.end(),
                       [](const JoinRange& join) { return join.turn != graph::kNoRotation; });
}

std::vector<Reach> reaches(const Slice& slice, const GridSystem& grid) {
    constexpr double kTouch = 1e-9;
    const std::set<int> meshes = meshes_of(slice, grid);
    std::vector<Reach> each, all;
    for (int zone = 0; zone < static_cast<int>(grid.source->zones().size()); ++zone)
        if (meshes.count(grid.mesh.empty() ? 0 : grid.mesh[static_cast<std::size_t>(zone)]) > 0)
            each.push_back(of_zone(slice, *grid.source, zone));
    std::sort(each.begin(), each.end(), [](const Reach& a, const Reach& b) { return a.low < b.low; });
    for (const Reach& one : each)
        if (!all.empty() && one.low <= all.back().high + kTouch * (1 + std::abs(one.low)))
            all.back().high = std::max(all.back().high, one.high);
        else
            all.push_back(one);
    return all;
}

std::optional<double> within(const Slice& slice, const std::vector<Reach>& all) {
    const bool angle = slice.kind == Slice::Kind::azimuth;
    for (const Reach& one : all) {
        if (angle && one.high - one.low > 360 - 1e-6) return slice.place;
        const double hair = 1e-7 * (angle ? 1 : 0);  // degrees
        const double middle = 0.5 * (one.low + one.high);
        const double place = slice.place + (angle ? 360 * std::round((middle - slice.place) / 360) : 0);
        if (place >= one.low - hair && place <= one.high + hair)
            return angle ? std::clamp(place, one.low + hair, one.high - hair) : place;
    }
    return std::nullopt;
}

}  // namespace strata::flow
