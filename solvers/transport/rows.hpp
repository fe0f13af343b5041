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

namespace strata::transport {

using graph::Box;
using graph::FieldView;
using graph::Int3;
using graph::pointer_to;
using graph::Row;

/// GCC's and Clang's vectors: one register of 512 bits, two of 256 or four of 128. Arithmetic on them is that
/// of doubles, lane by lane.
inline constexpr int kLanes = 8;
using Lanes = double __attribute__((vector_size(kLanes * sizeof(double))));

/// Sum, smallest and largest of what was given, in eight lanes: the order of additions, and so the bits, are
/// the same on every machine.
class Summary {
  public:
    void add(const Lanes& x) {
        sum_ += x;
        least_ = x < least_ ? x : least_;
        most_ = x > most_ ? x : most_;
    }
    void add(double x, int lane) {
        sum_[lane] += x;
        least_[lane] = x < least_[lane] ? x : least_[lane];
        most_[lane] = x > most_[lane] ? x : most_[lane];
    }
    /// A row of values, from lane 0 on.
    void add(const Row<const double>& values, int count) {
        int i = 0;
        for (; i + kLanes <= count; i += kLanes) {
            Lanes x;
            std::memcpy(&x, pointer_to(values + i, kLanes), sizeof x);
            add(x);
        }
        for (int lane = 0; i < count; ++i, ++lane) add(values[i], lane);
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

/// Where results go. Past the caches a line need not be read before it is overwritten, which is a third of
/// the traffic of conduction; it pays where no cache holds the grid until the next step.
enum class Stores { cached, past_caches };

/// Writes rows of a patch, and keeps the summary of what it wrote. With a sum that is not a number (infinite,
/// too) the values were none.
class RowWriter {
  public:
    explicit RowWriter(Stores stores) : past_caches_(stores == Stores::past_caches) {}
    ~RowWriter() {
        if (past_caches_) settle_stores();
    }
    RowWriter(const RowWriter&) = delete;
    RowWriter& operator=(const RowWriter&) = delete;

    /// out[i] = value(at) for 0 <= i < count, where at(row) is row[i], or eight values from there on at once.
    /// On the way it asks for as much from each of `ahead` on: a line with each line written, since more at
    /// once would have to wait for each other.
    template <std::size_t Fields, class Value>
    void write(const Row<double>& out, int count, const std::array<const double*, Fields>& ahead,
               Value value) {
        const int lanes = count / kLanes * kLanes;
        if (lanes > 0) {
            double* const to = pointer_to(out, lanes);
            if (past_caches_ && begins_a_line(to)) {
                for (const double* row : ahead)
                    __builtin_prefetch(row + lanes);  // its neighbour's, in the next patch
                write_lanes(lanes, value, [to, ahead](int i, const Lanes& x) {
                    for (const double* row : ahead) __builtin_prefetch(row + i);
                    store_line_past_caches(to + i, reinterpret_cast<const double*>(&x));
                });
            } else {
                write_lanes(lanes, value, [to](int i, const Lanes& x) { std::memcpy(to + i, &x, sizeof x); });
            }
        }
        if (lanes < count) write_rest(out, lanes, count, value);
    }
    [[nodiscard]] const Summary& summary() const { return summary_; }

  private:
    template <class Value, class Store>
    void write_lanes(int count, Value value, Store store) {
        Summary summary = summary_;  // in registers while it goes along the row
        for (int i = 0; i < count; i += kLanes) {
            const Lanes x = value([i](const Row<const double>& row) {
                Lanes values;
                std::memcpy(&values, pointer_to(row + i, kLanes), sizeof values);
                return values;
            });
            summary.add(x);
            store(i, x);
        }
        summary_ = summary;
    }
    /// Of its own, so that the loop before it is not burdened with what it needs.
    template <class Value>
    [[gnu::noinline]] void write_rest(const Row<double>& out, int first, int count, Value value) {
        for (int i = first; i < count; ++i) {
            const double x = value([i](const Row<const double>& row) { return row[i]; });
            summary_.add(x, i - first);
            out[i] = x;
        }
    }

    bool past_caches_;
    Summary summary_;
};

/// Which row of a patch to ask for while another one is worked on, in the order in which a kernel goes
/// through them. (Processors fetch ahead along a row by themselves, but each row begins anew, and they begin
/// late.)
class FetchAhead {
  public:
    /// Rows of `values` in `cells` and so many layers before and behind them.
    FetchAhead(const FieldView<const double>& values, const Box& cells, const Int3& before,
               const Int3& behind)
        : values_(values),
          cells_(cells),
          before_(before),
          behind_(behind),
          rows_(std::max(1, kBytes / (8 * std::max(cells.extent(0), 1)))) {}
    /// For row (j, k): lies so many rows behind the last one that it needs.
    [[nodiscard]] const double* row(int j, int k) const {
        const int first = cells_.lo[1] - before_[1], end = cells_.hi[1] + behind_[1];
        j += behind_[1] + rows_, k += behind_[2];
        for (; j >= end; j -= end - first) ++k;
        k = std::min(k, cells_.hi[2] + behind_[2] - 1);
        return pointer_to(values_.row(j, k) + cells_.lo[0], cells_.extent(0));
    }

  private:
    static constexpr int kBytes = 4 << 10;  // on their way at a time
    FieldView<const double> values_;
    Box cells_;
    Int3 before_, behind_;
    int rows_;
};

}  // namespace strata::transport
