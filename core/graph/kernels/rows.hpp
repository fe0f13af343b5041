// How kernels go along rows: several values at once, results past the caches where that pays, and what a step
// says of its result found on the way.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "core/base/streaming.hpp"
#include "core/graph/declare/view.hpp"
#include "core/lanes/plain.hpp"

namespace strata::graph::kernels {

using strata::kLanes;
using Lanes = PlainLanes;

/// Sum, smallest and largest of what was given, in eight lanes: the order of additions, and so the bits, are
/// the same on every machine.
class Summary {
  public:
    void add(const Lanes& x) {
        sum_ += x;
        least_ = x < least_ ? x : least_;
        most_ = x > most_ ? x : most_;
    }
    /// Fewer than eight, in the first lanes.
    template <class Values>
    void add(const Values& values, int count) {
        Lanes sum{}, least = Lanes{} + kInfinity, most = Lanes{} - kInfinity;
        for (int lane = 0; lane < count; ++lane) sum[lane] = least[lane] = most[lane] = values[lane];
        sum_ += sum;
        least_ = least < least_ ? least : least_;
        most_ = most > most_ ? most : most_;
    }
    [[nodiscard]] double sum() const {
        double s = 0;
        for (int l = 0; l < kLanes; ++l) s += sum_[l];
        return s;
    }
    [[nodiscard]] double least() const {
        double least = least_[0];
        for (int l = 1; l < kLanes; ++l) least = least_[l] < least ? least_[l] : least;
        return least;
    }
    [[nodiscard]] double most() const {
        double most = most_[0];
        for (int l = 1; l < kLanes; ++l) most = most_[l] > most ? most_[l] : most;
        return most;
    }

  private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Lanes sum_ = Lanes{}, least_ = Lanes{} + kInfinity, most_ = Lanes{} - kInfinity;
};

/// Lines to be asked for.
struct NearLines {
    const double* near;
    [[gnu::always_inline]] void ask(int i) const { __builtin_prefetch(near + i); }
};

/// Lines to be asked for: soon needed ones into the first-level cache, later ones into the second-level one.
struct Lines {
    const double *near, *far;
    [[gnu::always_inline]] void ask(int i) const {
        __builtin_prefetch(near + i);
        __builtin_prefetch(far + i, 0, 2);
    }
};

/// Where results go. Past the caches a line need not be read before it is overwritten, which is a third of
/// the traffic of conduction; it pays where no cache holds the grid until the next step.
enum class Stores { cached, past_caches };

/// The values of a row that do not fill lanes. (Of its own, so that the loop over lanes is not burdened with
/// what it needs.)
template <class Value>
[[gnu::noinline]] void write_rest(const Row<double>& out, int first, int count, Value value) {
    for (int i = first; i < count; ++i) out[i] = value([i](const Row<const double>& row) { return row[i]; });
}

/// A piece of a row: so many cells, and so many layers beyond a wall before and behind them.
struct Piece {
    int cells, before = 0, behind = 0;
};

/// out[i] = value(at) for 0 <= i < cells, where at(row) is row[i], or eight values from there on at once; and
/// the summary with these. Layers beyond walls get the value of the nearest cell now, while it is at hand:
/// what went past the caches would have to be read from memory. On the way it asks for what is `ahead`: a
/// line with each line written, since more at once would have to wait for each other.
template <class Ahead, std::size_t Fields, class Value>
[[gnu::always_inline]] inline Summary write_row(Summary summary, const Row<double>& out, const Piece& piece,
                                                Stores stores, const std::array<Ahead, Fields>& ahead,
                                                Value value) {
    const int lanes = piece.cells / kLanes * kLanes;
    double first = 0, last = 0;
    if (lanes > 0) {
        double* const to = pointer_to(out, lanes);
        const bool past_caches = stores == Stores::past_caches && begins_a_line(to);
        for (int i = 0; i < lanes; i += kLanes) {
            const Lanes x = value([i](const Row<const double>& row) {
                Lanes values;
                std::memcpy(&values, pointer_to(row + i, kLanes), sizeof values);
                return values;
            });
            for (const Ahead& lines : ahead) lines.ask(i);
            summary.add(x);
            if (past_caches)
                store_line_past_caches(to + i, reinterpret_cast<const double*>(&x));
            else
                std::memcpy(to + i, &x, sizeof x);
            if (i == 0) first = x[0];
            last = x[kLanes - 1];
        }
    }
    if (lanes < piece.cells) {
        write_rest(out, lanes, piece.cells, value);
        summary.add(out + lanes, piece.cells - lanes);
        first = lanes > 0 ? first : out[0], last = out[piece.cells - 1];
    }
    for (int i = 1; i <= piece.before; ++i) out[-i] = first;
    for (int i = 0; i < piece.behind; ++i) out[piece.cells + i] = last;
    return summary;
}

}  // namespace strata::graph::kernels
