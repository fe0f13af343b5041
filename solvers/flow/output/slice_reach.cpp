#include "solvers/flow/output/slice_reach.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

namespace strata::flow {

using graph::Real3;

namespace {

/// The coordinates of nodes in a box, axis after axis.
void read(const GridSource& source, int zone, const Box& box, std::vector<double>& x) {
    x.resize(static_cast<std::size_t>(source.dimensions()) * static_cast<std::size_t>(box.volume()));
    source.nodes(zone, box, x.data());
}

/// The least and greatest coordinates of a zone's nodes along all axes. The extremes lie on faces.
std::vector<Reach> coordinates_of(const GridSource& source, int zone) {
    const auto dimensions = static_cast<std::size_t>(source.dimensions());
    std::vector<Reach> all(dimensions, {HUGE_VAL, -HUGE_VAL});
    std::vector<double> x;
    const Box box = source.node_box(zone);
    for (std::size_t d = 0; d < dimensions; ++d)
        for (const bool upper : {false, true}) {
            Box face = box;
            (upper ? face.lo[d] : face.hi[d]) = upper ? box.hi[d] - 1 : box.lo[d] + 1;
            read(source, zone, face, x);
            const auto count = static_cast<std::ptrdiff_t>(face.volume());
            for (std::size_t axis = 0; axis < dimensions; ++axis) {
                const auto first = x.begin() + static_cast<std::ptrdiff_t>(axis) * count;
                const auto [low, high] = std::minmax_element(first, first + count);
                all[axis].low = std::min(all[axis].low, *low);
                all[axis].high = std::max(all[axis].high, *high);
            }
        }
    return all;
}

/// Follows the angle about an axis over boxes of nodes of one zone.
class Walk {
  public:
    Walk(std::size_t axis, const Real3& centre, const GridSource& source, int zone)
        : axis_(axis), centre_(centre), source_(source), zone_(zone) {}

    /// Over a box from its first node on, where the angle is near `from`. Returns that at its last node.
    double over(const Box& box, double from) {
        read(source_, zone_, box, x_);
        const auto count = static_cast<std::size_t>(box.volume());
        std::size_t n = 0;
        double layer = from, last = from;
        for (int k = box.lo[2]; k < box.hi[2]; ++k) {
            double row = layer;
            for (int j = box.lo[1]; j < box.hi[1]; ++j) {
                last = row;
                for (int i = box.lo[0]; i < box.hi[0]; ++i, ++n) {
                    last = angle(n, count, last);
                    reach.low = std::min(reach.low, last), reach.high = std::max(reach.high, last);
                    if (i == box.lo[0]) row = last;
                }
                if (j == box.lo[1]) layer = row;
            }
        }
        return last;
    }
    Reach reach{HUGE_VAL, -HUGE_VAL};

  private:
    [[nodiscard]] double angle(std::size_t n, std::size_t count, double near) const {
        const std::size_t a = (axis_ + 1) % 3, b = (axis_ + 2) % 3;
        const double u = x_[a * count + n] - centre_[a], v = x_[b * count + n] - centre_[b];
        if (u == 0 && v == 0) return near;  // the axis has no angle
        const double found = std::atan2(v, u) * 180 / std::numbers::pi;
        return found + 360 * std::round((near - found) / 360);
    }
    std::size_t axis_;
    const Real3& centre_;
    const GridSource& source_;
    int zone_;
    std::vector<double> x_;
};

/// The extremes lie on faces. All are followed from the zone's first node, along its edges.
Reach angles_of(std::size_t axis, const Real3& centre, const GridSource& source, int zone) {
    Walk walk(axis, centre, source, zone);
    const Box all = source.node_box(zone);
    const Box first{all.lo, {all.lo[0] + 1, all.lo[1] + 1, all.lo[2] + 1}};
    const double from = walk.over(first, 0);
    for (std::size_t d = 0; d < static_cast<std::size_t>(source.dimensions()); ++d) {
        Box edge = first, lower = all, upper = all;
        edge.hi[d] = all.hi[d], lower.hi[d] = all.lo[d] + 1, upper.lo[d] = all.hi[d] - 1;
        (void)walk.over(lower, from);
        (void)walk.over(upper, walk.over(edge, from));
    }
    return walk.reach;
}

int mesh_of(const GridSystem& grid, int zone) {
    return grid.mesh.empty() ? 0 : grid.mesh[static_cast<std::size_t>(zone)];
}

/// Meshes that are periodic by rotation.
std::set<int> sectors_of(const GridSystem& grid) {
    std::set<int> turned;
    for (const JoinRange& join : grid.joins)
        if (join.turn != graph::kNoRotation) turned.insert(mesh_of(grid, join.zone));
    return turned;
}

/// Ascending; those that touch are one.
std::vector<Reach> joined(std::vector<Reach> each) {
    constexpr double kTouch = 1e-9;
    std::sort(each.begin(), each.end(), [](const Reach& a, const Reach& b) { return a.low < b.low; });
    std::vector<Reach> all;
    for (const Reach& one : each)
        if (!all.empty() && one.low <= all.back().high + kTouch * (1 + std::abs(one.low)))
            all.back().high = std::max(all.back().high, one.high);
        else
            all.push_back(one);
    return all;
}

}  // namespace

bool is_sector(const GridSystem& grid) { return !sectors_of(grid).empty(); }

const std::vector<Reach>& Reaches::of(const Slice& slice) {
    const auto axis = static_cast<std::size_t>(slice.axis);
    const int zones = static_cast<int>(grid_.source->zones().size());
    if (slice.kind == Slice::Kind::plane) {
        if (planes_.empty()) {
            std::vector<std::vector<Reach>> each(static_cast<std::size_t>(grid_.dimensions));
            for (int zone = 0; zone < zones; ++zone) {
                const std::vector<Reach> found = coordinates_of(*grid_.source, zone);
                for (std::size_t d = 0; d < each.size(); ++d) each[d].push_back(found[d]);
            }
            for (std::vector<Reach>& one : each) planes_.push_back(joined(std::move(one)));
        }
        return planes_[axis];
    }
    const auto [found, is_new] = half_planes_.try_emplace({axis, slice.centre});
    if (is_new) {
        const std::set<int> sectors = sectors_of(grid_);
        std::vector<Reach> each;
        for (int zone = 0; zone < zones; ++zone)
            if (sectors.empty() || sectors.count(mesh_of(grid_, zone)) > 0)
                each.push_back(angles_of(axis, slice.centre, *grid_.source, zone));
        found->second = joined(std::move(each));
    }
    return found->second;
}

std::optional<double> within(const Slice& slice, const std::vector<Reach>& all) {
    const bool angle = slice.kind == Slice::Kind::azimuth;
    for (const Reach& one : all) {
        if (angle && one.high - one.low > 360 - 1e-6) return slice.place;
        const double hair = angle ? 1e-7 : 0;  // degrees
        const double middle = 0.5 * (one.low + one.high);
        const double place = slice.place + (angle ? 360 * std::round((middle - slice.place) / 360) : 0);
        if (place >= one.low - hair && place <= one.high + hair)
            return angle ? std::clamp(place, one.low + hair, one.high - hair) : place;
    }
    return std::nullopt;
}

}  // namespace strata::flow
