#include "benchmarks/npb/lu/solve.hpp"

#include <algorithm>

#include "benchmarks/npb/common/transpose.hpp"

namespace strata::npb::lu {
namespace {

using flow::Index;

/// Room beside each row that lanes ahead or behind run into; it stays zero.
constexpr std::int64_t kMargin = kLanes;

/// Rows of five components with margins.
std::int64_t pitch(const Index& size) { return flow::round_up(size[0]) + 2 * kMargin; }

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
struct Solve::Rows {
    std::int64_t first;
    int count;
    double *work, *before;  // [row][component][x]
    const double* from;     // what the rows before these contribute, [component][x]
    double* to;             // what these contribute to the next ones
    std::int64_t pitch;

    [[nodiscard]] double* at(int row, int m) const { return work + (row * kComponents + m) * pitch; }
    [[nodiscard]] double* old(int row, int m) const { return before + (row * kComponents + m) * pitch; }
};

std::size_t Solve::scratch_doubles(const Index& size) {
    // Eight rows twice, and two that are handed from rows to rows.
    return static_cast<std::size_t>((2 * kLanes + 2) * kComponents * pitch(size));
}

Solve::Solve(const flow::Cell& cell, int blocks, double dt, Break fault, Group& group,
             const std::string& name)
    : cell_(cell),
      tile_(cell.tile),
      dt_(dt),
      fault_(fault),
      diagonal_(flow::axes_of(tile_.scale), dt),
      width_(flow::round_up(tile_.size[0])),
      blocks_(blocks) {
    const std::array<flow::Axis, 3> axes = flow::axes_of(tile_.scale);
    for (std::size_t d = 0; d < 3; ++d) {
        const double scale = kOmega * dt;
        factors_[d] = {scale * axes[d].first, scale * axes[d].second,
                       scale * axes[d].second * axes[d].diffusion};
    }
    const auto rows = static_cast<std::size_t>(tile_.size[1]) * kComponents;
    behind_ = group.array<double>("plane before" + name, rows * static_cast<std::size_t>(width_));
    handed_ = group.array<double>("rows handed on" + name,
                                  static_cast<std::size_t>(blocks_ + 1) * 2 * row_doubles());
    west_ = group.array<double>("column that comes" + name, rows);
    east_ = group.array<double>("column that goes" + name, rows);
}

std::uint64_t Solve::bytes(const Index& size, int blocks) {
    const auto rows = static_cast<std::uint64_t>(size[1] * kComponents);
    const auto handed = static_cast<std::uint64_t>((blocks + 1) * 2 * kComponents * pitch(size));
    return (handed + rows * static_cast<std::uint64_t>(flow::round_up(size[0]) + 2)) * sizeof(double);
}

std::size_t Solve::row_doubles() const { return static_cast<std::size_t>(kComponents * pitch(tile_.size)); }

std::span<double> Solve::handed(int block, std::int64_t step) {
    return handed_.subspan(static_cast<std::size_t>(2 * block + step % 2) * row_doubles(), row_doubles());
}

void Solve::clear(int worker, int workers, bool edge) {
    const Share part(std::ssize(behind_), worker, workers);
    std::fill(behind_.begin() + part.begin, behind_.begin() + part.end, 0.0);
    if (worker == 0 && edge)
        for (const int parity : {0, 1}) std::ranges::fill(handed(0, parity), 0.0);
}

template <int Way>
void Solve::plane(std::int64_t nth, int block, std::int64_t step, double* scratch) {
    const std::int64_t z = Way > 0 ? tile_.first(2) + nth : tile_.last(2) - 1 - nth;
    // Blocks are counted in the order of the sweep, rows are divided alike both ways.
    const int worker = Way > 0 ? block : blocks_ - 1 - block;
    const std::int64_t first = tile_.first(1), last = tile_.last(1);
    const std::int64_t eights = flow::round_up(last - first) / kLanes;
    const Share own(eights, worker, blocks_);
    const std::int64_t row = kComponents * pitch(tile_.size);
    double* memory = scratch + kMargin;
    double* between = memory + 2 * kLanes * row;
    for (std::int64_t i = 0; i < own.end - own.begin; ++i) {
        const bool is_first = i == 0, is_last = i + 1 == own.end - own.begin;
        const std::int64_t eight = Way > 0 ? own.begin + i : own.end - 1 - i;
        const std::int64_t low = first + eight * kLanes, high = std::min(low + kLanes, last);
        const Rows rows{Way > 0 ? low : high - 1,
                        static_cast<int>(high - low),
                        memory,
                        memory + kLanes * row,
                        is_first ? handed(block, step + 1).data() + kMargin : between + i % 2 * row,
                        is_last ? handed(block + 1, step).data() + kMargin : between + (i + 1) % 2 * row,
                        pitch(tile_.size)};
        begin_rows<Way>(z, rows);
        solve_rows<Way>(z, rows);
        end_rows<Way>(z, rows);
    }
}

/// work = what the plane before contributes, in the lower solve and the residual; before = v.
template <int Way>
void Solve::begin_rows(std::int64_t z, const Rows& rows) {
    for (int l = 0; l < rows.count; ++l) {
        const std::int64_t y = rows.first + Way * l;
        for (int m = 0; m < kComponents; ++m) {
            const double* behind = behind_.data() + (y * kComponents + m) * width_;
            const double* rhs = cell_.rhs.at(y, z) + m * cell_.rhs.row;
            for (std::int64_t x = 0; x < width_; x += kLanes) {
                if constexpr (Way > 0) {
                    store(rows.at(l, m) + x, load(behind + x) + dt_ * load(rhs + x));
                } else {
                    store(rows.at(l, m) + x, load(behind + x));
                    store(rows.old(l, m) + x, load(rhs + x));
                }
            }
        }
    }
}

template <int Way>
void Solve::solve_rows(std::int64_t z, const Rows& rows) {
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
                if constexpr (Way < 0) old[m][l] = load(rows.old(row, m) + from(l));
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
                        west_[static_cast<std::size_t>((rows.first + Way * lane_in) * kComponents + m)];
                r[m] = work[m][i] + along_x[m] + shift_in(along_y[m], rows.from[m * rows.pitch + x]);
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
                rows.to[m * rows.pitch + x - Way * (rows.count - 1)] = along_y[m][rows.count - 1];
                if (to_east && lane_out >= 0 && lane_out < rows.count)
                    east_[static_cast<std::size_t>((rows.first + Way * lane_out) * kComponents + m)] =
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
void Solve::end_rows(std::int64_t z, const Rows& rows) {
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
                store(behind_.data() + (y * kComponents + m) * width_ + x, next[m]);
                if constexpr (Way > 0)
                    store(cell_.rhs.at(y, z) + m * cell_.rhs.row + x, v[m]);
                else
                    store(cell_.u.at(y, z) + m * cell_.u.row + x, u[m] + advance * v[m]);
            }
        }
    }
}

template void Solve::plane<1>(std::int64_t, int, std::int64_t, double*);
template void Solve::plane<-1>(std::int64_t, int, std::int64_t, double*);

}  // namespace strata::npb::lu
