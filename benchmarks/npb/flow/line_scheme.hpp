#pragma once

#include <algorithm>

#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/flow/lines.hpp"

namespace strata::npb::flow {

/// The five components at eight points that lie `step` apart, component by component.
inline void load_all(const double* from, std::int64_t step, Vec (&r)[kComponents]) {
    for (int m = 0; m < kComponents; ++m) r[m] = load(from + m * step);
}
inline void store_all(double* to, std::int64_t step, const Vec (&r)[kComponents]) {
    for (int m = 0; m < kComponents; ++m) store(to + m * step, r[m]);
}

/// What the schemes that Lines knows share: how bundles are read and written, and what a broken one does.
class LineScheme {
  protected:
    LineScheme(const Scale& scale, double dt, Break fault) : dt_(dt), fault_(fault), axes_(axes_of(scale)) {}

    /// body(lane's row y, x, from, to) for the eights of a bundle along x: points x + from to x + to - 1 of
    /// each, and the one before and behind where another cell has them.
    template <class Body>
    static void for_eights(const Tile& t, Body&& body) {
        if (t.begin[0] > 0) body(-1, 0, 1);
        for (std::int64_t x = 0; x < t.size[0]; x += kLanes) body(x, 0, kLanes);
        if (t.last(0) == t.size[0]) body(t.size[0], 0, 1);
    }
    /// The row of a lane; those beyond the last repeat it.
    static std::int64_t row_of(const Tile& t, Bundle bundle, int lane) {
        return std::min(bundle.first + lane, t.last(1) - 1);
    }
    /// body(point, y, z, within the boundary) for a bundle along y or z, and the points beside as above.
    template <int D, class Body>
    static void for_points(const Tile& t, Bundle bundle, Body&& body) {
        const std::int64_t from = t.begin[D] > 0 ? -1 : 0;
        const std::int64_t to = t.size[D] + (t.last(D) == t.size[D] ? 1 : 0);
        for (std::int64_t p = from; p < to; ++p)
            body(p, D == 1 ? p : bundle.second, D == 1 ? bundle.second : p, p >= t.first(D) && p < t.last(D));
    }
    /// rhs along x = what changes(point, out) gives at eight lanes.
    template <class Changes>
    static void scatter_x(const Cell& cell, Bundle bundle, Changes&& changes) {
        const Tile& t = cell.tile;
        for (std::int64_t x = 0; x < t.size[0]; x += kLanes) {
            Vec all[kComponents][kLanes];
            for (int p = 0; p < kLanes; ++p) {
                Vec r[kComponents];
                changes(x + p, r);
                for (int m = 0; m < kComponents; ++m) all[m][p] = r[m];
            }
            for (int m = 0; m < kComponents; ++m) {
                transpose(all[m]);
                for (int lane = 0; lane < kLanes && bundle.first + lane < t.last(1); ++lane)
                    store(cell.rhs.at(bundle.first + lane, bundle.second) + m * cell.rhs.row + x,
                          all[m][lane]);
            }
        }
    }
    /// How much of its change a plane takes: all, but for one plane of a broken kernel, which is left as it
    /// was, or changes a little too much.
    [[nodiscard]] double part_of(const Tile& t, std::int64_t z) const {
        if (fault_ == Break::none || t.begin[2] + z != 1) return 1;
        return fault_ == Break::skip ? 0 : 1 + 1e-3;
    }

    double dt_;
    Break fault_;
    std::array<Axis, 3> axes_;
};

}  // namespace strata::npb::flow

/// A scheme's members that Lines calls, for all directions.
#define STRATA_NPB_LINES_IN(D)                                                                \
    template void Scheme::gather<D>(const flow::Cell&, flow::Bundle, double*) const;          \
    template void Scheme::forward<D>(const flow::Tile&, double*, double*, Vec*) const;        \
    template void Scheme::backward<D>(const flow::Tile&, double*, const double*, Vec*) const; \
    template void Scheme::scatter<D>(const flow::Cell&, flow::Bundle, double*) const;
#define STRATA_NPB_LINES STRATA_NPB_LINES_IN(0) STRATA_NPB_LINES_IN(1) STRATA_NPB_LINES_IN(2)
