#pragma once

#include <algorithm>
#include <ctime>
#include <span>

#include "benchmarks/npb/common/group.hpp"

namespace strata::npb::mz {

/// How long each worker computes, by its processor time, so that neither waits nor a core that is shared
/// count: what the measured balance is made of.
class Busy {
  public:
    explicit Busy(Group& group)
        : group_(group),
          seconds_(
              group.array<double>("seconds of work", static_cast<std::size_t>(group.workers()) * kApart)) {}

    /// body(), by that worker, with its time.
    template <class Body>
    void count(int worker, Body&& body) {
        const double start = processor_time();
        body();
        seconds_[place(worker)] += processor_time() - start;
    }
    void reset() {
        group_.each([&](int worker, int) { seconds_[place(worker)] = 0; });
    }
    /// The mean of all workers of all processes over the longest: 1 is perfect.
    [[nodiscard]] double balance() {
        const auto sums = group_.sum_each<2>([&](int worker, int) {
            return std::array<double, 2>{seconds_[place(worker)], 1};
        });
        double most = 0;
        for (int w = 0; w < group_.workers(); ++w) most = std::max(most, seconds_[place(w)]);
        most = group_.max(most);
        return most > 0 ? sums[0] / sums[1] / most : 1;
    }

  private:
    static constexpr std::size_t kApart = 8;
    [[nodiscard]] static double processor_time() {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
    }
    [[nodiscard]] static std::size_t place(int worker) { return static_cast<std::size_t>(worker) * kApart; }
    Group& group_;
    std::span<double> seconds_;
};

}  // namespace strata::npb::mz
