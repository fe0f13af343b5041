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
    template <class Value>
    void write(const Row<double>& out, int count, Value value) {
        const int lanes = count / kLanes * kLanes;
        if (lanes > 0) {
            double* const to = pointer_to(out, lanes);
            if (past_caches_ && begins_a_line(to))
                write_lanes(lanes, value, [to](int i, const Lanes& x) {
                    store_line_past_caches(to + i, reinterpret_cast<const double*>(&x));
                });
            else
                write_lanes(lanes, value, [to](int i, const Lanes& x) { std::memcpy(to + i, &x, sizeof x); });
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

/// Asks for the rows of a patch some time before they are needed, in the order in which a kernel goes through
/// them. (Processors fetch ahead along a row by themselves, but rows of a patch are short, and lie far
/// apart.)
class FetchAhead {
  public:
    /// Rows of `values` in `cells` and the layers around it.
    FetchAhead(const FieldView<const double>& values, const Box& cells, const Int3& layers)
        : values_(values), lo_(cells.lo), length_(cells.extent(0)), layers_(layers), next_{} {
        for (std::size_t a = 1; a < 3; ++a) rows_[a] = cells.extent(static_cast<int>(a)) + 2 * layers[a];
    }
    /// To be called before row (j, k) is worked on.
    void before(int j, int k) {
        const int plane = k - lo_[2] + 2 * layers_[2];  // the last that it needs
        const std::int64_t until = std::min(
            std::int64_t{plane} * rows_[1] + (j - lo_[1] + 2 * layers_[1]) + kBytes / (8 * length_ + 1),
            std::int64_t{rows_[1]} * rows_[2] - 1);
        for (; asked_ <= until; ++asked_) {
            const Row<const double> row =
                values_.row(lo_[1] - layers_[1] + next_[0], lo_[2] - layers_[2] + next_[1]) + lo_[0];
            const double* const at = pointer_to(row, length_);
            for (int i = 0; i < length_ + layers_[0]; i += kLanes) __builtin_prefetch(at + i, 0, 2);
            if (++next_[0] == rows_[1]) next_[0] = 0, ++next_[1];
        }
    }

  private:
    static constexpr int kBytes = 8 << 10;  // on their way at a time
    FieldView<const double> values_;
    Int3 lo_;
    int length_;
    Int3 layers_, rows_{};
    std::int64_t asked_ = 0;
    std::array<int, 2> next_;
};

}  // namespace strata::transport
