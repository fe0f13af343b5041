#include "benchmarks/npb/lu/rows.hpp"

#include <algorithm>

#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb::lu {
namespace {

using flow::Index;

/// Lanes 0 to 6 move to 1 to 7, `first` comes in.
Vec shift_in(Vec v, double first) {
#ifdef __clang__
    Vec shifted;
    shifted[0] = first;
    for (int l = 1; l < kLanes; ++l) shifted[l] = v[l - 1];
    return shifted;
#else
    return __builtin_shuffle(v, broadcast(first), Mask{8, 0, 1, 2, 3, 4, 5, 6});
#endif
}

}  // namespace

/// Up to eight rows of a plane, in the order in which they are solved: row l is first + Way * l.
struct RowSolve::Rows {
    std::int64_t first;
    int count;
    double *work, *old;                 // [row][component][x]
    Contributions::Row before, behind;  // of and to other rows
    std::int64_t pitch;

    [[nodiscard]] double* at(int row, int m) const { return work + (row * kComponents + m) * pitch; }
    [[nodiscard]] double* old_at(int row, int m) const { return old + (row * kComponents + m) * pitch; }
};

std::size_t RowSolve::scratch_doubles(const Index& size) {
    // Eight rows twice, and two that are handed from rows to rows.
    return static_cast<std::size_t>((2 * kLanes + 2) * kComponents * pitch(size));
}

RowSolve::RowSolve(const flow::Cell& cell, double dt, Break fault)
    : cell_(cell),
      tile_(cell.tile),
      dt_(dt),
      fault_(fault),
      diagonal_(flow::axes_of(tile_.scale), dt),
      width_(flow::round_up(tile_.size[0])) {
    const std::array<flow::Axis, 3> axes = flow::axes_of(tile_.scale);
    for (std::size_t d = 0; d < 3; ++d) {
        const double scale = kOmega * dt;
        factors_[d] = {scale * axes[d].first, scale * axes[d].second,
                       scale * axes[d].second * axes[d].diffusion};
    }
}

template <int Way>
void RowSolve::eights(std::int64_t z, std::int64_t begin, std::int64_t end, const Contributions& handed,
                      double* scratch) const {
    const std::int64_t first = tile_.first(1), last = tile_.last(1), each = pitch(tile_.size);
    const std::int64_t row = kComponents * each;
    double* memory = scratch + kMargin;
    double* between = memory + 2 * kLanes * row;
    for (std::int64_t i = 0; i < end - begin; ++i) {
        const std::int64_t eight = Way > 0 ? begin + i : end - 1 - i;
        const std::int64_t low = first + eight * kLanes, high = std::min(low + kLanes, last);
        const auto handed_between = [&](std::int64_t n) -> Contributions::Row {
            return {between + n % 2 * row, each};
        };
        const Rows rows{Way > 0 ? low : high - 1,
                        static_cast<int>(high - low),
                        memory,
                        memory + kLanes * row,
                        i == 0 ? handed.before : handed_between(i),
                        i + 1 == end - begin ? handed.behind : handed_between(i + 1),
                        each};
        begin_rows<Way>(z, handed.below, rows);
        solve_rows<Way>(z, handed, rows);
        end_rows<Way>(z, handed.above, rows);
    }
}

/// work = what the plane before contributes, in the lower solve and the residual; old = v.
template <int Way>
void RowSolve::begin_rows(std::int64_t z, const flow::Field& below, const Rows& rows) const {
    for (int l = 0; l < rows.count; ++l) {
        const std::int64_t y = rows.first + Way * l;
        for (int m = 0; m < kComponents; ++m) {
            const double* from = below.at(y, 0) + m * below.row;
            const double* rhs = cell_.rhs.at(y, z) + m * cell_.rhs.row;
            for (std::int64_t x = 0; x < width_; x += kLanes) {
                if constexpr (Way > 0) {
                    store(rows.at(l, m) + x, load(from + x) + dt_ * load(rhs + x));
                } else {
                    store(rows.at(l, m) + x, load(from + x));
                    store(rows.old_at(l, m) + x, load(rhs + x));
                }
            }
        }
    }
}

template <int Way>
void RowSolve::solve_rows(std::int64_t z, const Contributions& handed, const Rows& rows) const {
    const std::int64_t first = tile_.first(0), last = tile_.last(0);
    const bool low = tile_.begin[0] == 0, high = tile_.begin[0] + tile_.size[0] == tile_.n[0];
    const bool from_west = Way > 0 ? !low : !high, to_east = Way > 0 ? !high : !low;
    const std::int64_t enter = Way > 0 ? first : last - 1, leave = Way > 0 ? last - 1 : first;
    Factors f[] = {factors_[0], factors_[1]};
    for (Factors& factor : f) factor.first *= Way;
    constexpr Mask ahead = {0, 1, 2, 3, 4, 5, 6, 7};  // how many points each lane is behind the first
    const Mask exists = ahead < Mask{} + rows.count;
    Vec along_x[kComponents]{}, along_y[kComponents]{};
    for (std::int64_t done = 0; done < width_ + kLanes; done += kLanes) {
        // Eight steps: lane l has points x0 - Way l to x0 - Way l + 7 Way, row by row in memory.
        const std::int64_t x0 = Way > 0 ? done : width_ - 1 - done;
        const auto from = [&](int l) { return Way > 0 ? x0 - l : x0 + l - (kLanes - 1); };
        Vec u[kComponents][kLanes], work[kComponents][kLanes], old[kComponents][kLanes];
        for (int m = 0; m < kComponents; ++m) {
            for (int l = 0; l < kLanes; ++l) {
                const int row = std::min(l, rows.count - 1);
                u[m][l] = load(cell_.u.at(rows.first + Way * row, z) + m * cell_.u.row + from(l));
                work[m][l] = load(rows.at(row, m) + from(l));
                if constexpr (Way < 0) old[m][l] = load(rows.old_at(row, m) + from(l));
            }
            transpose(u[m]);
            transpose(work[m]);
            if constexpr (Way < 0) transpose(old[m]);
        }
        for (int step = 0; step < kLanes; ++step) {
            const int i = Way > 0 ? step : kLanes - 1 - step;
            const std::int64_t x = x0 + Way * step;
            const Mask at = Mask{} + x - Way * ahead;
            const Mask counts = exists & (at >= Mask{} + first) & (at < Mask{} + last);
            Vec here[kComponents], r[kComponents], v[kComponents];
            for (int m = 0; m < kComponents; ++m) here[m] = u[m][i];
            const Gas gas(here, counts ? 1 / here[0] : Vec{});
            const std::int64_t lane_in = Way * (x - enter);
            for (int m = 0; m < kComponents; ++m) {
                if (from_west && lane_in >= 0 && lane_in < rows.count)
                    along_x[m][lane_in] =
                        handed.west[static_cast<std::size_t>((rows.first + Way * lane_in) * kComponents + m)];
                r[m] =
                    work[m][i] + along_x[m] + shift_in(along_y[m], rows.before.at[m * rows.before.pitch + x]);
            }
            diagonal_.solve(gas, r, v);
            for (int m = 0; m < kComponents; ++m) {
                if constexpr (Way < 0) v[m] += old[m][i];
                v[m] = counts ? v[m] : Vec{};
                work[m][i] = v[m];
            }
            const Change change(gas, v);
            product<0>(gas, change, f[0], along_x);
            product<1>(gas, change, f[1], along_y);
            const std::int64_t lane_out = Way * (x - leave);
            for (int m = 0; m < kComponents; ++m) {
                rows.behind.at[m * rows.behind.pitch + x - Way * (rows.count - 1)] =
                    along_y[m][rows.count - 1];
                if (to_east && lane_out >= 0 && lane_out < rows.count)
                    handed.east[static_cast<std::size_t>((rows.first + Way * lane_out) * kComponents + m)] =
                        along_x[m][lane_out];
            }
        }
        for (int m = 0; m < kComponents; ++m) {
            transpose(work[m]);
            for (int l = 0; l < rows.count; ++l) store(rows.at(l, m) + from(l), work[m][l]);
        }
    }
}

/// What these rows contribute to the next plane's; v is kept for the upper solve, u advanced by it.
template <int Way>
void RowSolve::end_rows(std::int64_t z, const flow::Field& above, const Rows& rows) const {
    Factors f = factors_[2];
    f.first *= Way;
    // What a broken kernel does: one plane is left as it was, or changes a little too much.
    const bool broken = fault_ != Break::none && tile_.begin[2] + z == 1;
    const double part = broken ? (fault_ == Break::skip ? 0 : 1 + 1e-3) : 1;
    const double advance = part / (kOmega * (2 - kOmega));
    for (int l = 0; l < rows.count; ++l) {
        const std::int64_t y = rows.first + Way * l;
        for (std::int64_t x = 0; x < width_; x += kLanes) {
            Vec v[kComponents], u[kComponents], next[kComponents];
            for (int m = 0; m < kComponents; ++m) {
                v[m] = load(rows.at(l, m) + x);
                u[m] = load(cell_.u.at(y, z) + m * cell_.u.row + x);
            }
            const Gas gas(u, 1 / u[0]);
            product<2>(gas, Change(gas, v), f, next);
            for (int m = 0; m < kComponents; ++m) {
                store(above.at(y, 0) + m * above.row + x, next[m]);
                if constexpr (Way > 0)
                    store(cell_.rhs.at(y, z) + m * cell_.rhs.row + x, v[m]);
                else
                    store(cell_.u.at(y, z) + m * cell_.u.row + x, u[m] + advance * v[m]);
            }
        }
    }
}

template void RowSolve::eights<1>(std::int64_t, std::int64_t, std::int64_t, const Contributions&,
                                  double*) const;
template void RowSolve::eights<-1>(std::int64_t, std::int64_t, std::int64_t, const Contributions&,
                                   double*) const;

}  // namespace strata::npb::lu
