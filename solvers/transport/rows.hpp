// How kernels go along rows: several values at once, results past the caches where that pays, and what a step
// says of its result found on the way.
#pragma once

#include <cstddef>
#include <cstring>
#include <limits>

#include "core/base/streaming.hpp"
#include "core/graph/declare/view.hpp"

namespace strata::transport {

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
        Summary summary = summary_;  // in registers while it goes along the row
        int i = 0;
        for (; i + kLanes <= count; i += kLanes) {
            const Lanes x = value([i](const Row<const double>& row) {
                Lanes values;
                std::memcpy(&values, pointer_to(row + i, kLanes), sizeof values);
                return values;
            });
            summary.add(x);
            double* const to = pointer_to(out + i, kLanes);
            if (past_caches_)
                store_past_caches(to, reinterpret_cast<const double*>(&x), kLanes);
            else
                std::memcpy(to, &x, sizeof x);
        }
        for (int lane = 0; i < count; ++i, ++lane) {
            out[i] = value([i](const Row<const double>& row) { return row[i]; });
            summary.add(out[i], lane);
        }
        summary_ = summary;
    }
    [[nodiscard]] const Summary& summary() const { return summary_; }

  private:
    bool past_caches_;
    Summary summary_;
};

}  // namespace strata::transport
