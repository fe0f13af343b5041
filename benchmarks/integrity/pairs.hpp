// Rounds of two cores at once: who meets whom, and when.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "benchmarks/integrity/crew.hpp"

namespace strata::integrity {

class Pairs {
  public:
    Pairs(const Settings& settings, Crew& crew);

    /// Orders the next meetings where they are due; `wanted` says whether a worker has a round of a kernel
    /// left.
    void go_on(double now_s, const std::function<bool(std::uint32_t kernel, int worker)>& wanted);
    /// One round with its partner again, each against a reference of its own; its order, or 0 where it must
    /// wait.
    [[nodiscard]] std::uint32_t again(int worker, std::uint32_t kernel, std::uint64_t seed);
    /// A worker stops or has ended: whoever waits for it, waits no longer.
    void leave(int worker);
    /// Whether the two of this order were told to give it up.
    [[nodiscard]] bool left(std::uint32_t order) const { return left_.contains(order); }
    /// The number of the next order, also for other orders.
    [[nodiscard]] std::uint32_t next_id() { return ++last_id_; }

  private:
    struct Meeting {
        std::uint32_t order;
        int first, second;
    };
    /// Forgets the meetings that are over.
    void tidy();
    void meet(int first, int second, std::uint32_t kernel, std::uint64_t seed, bool again);

    const Settings& settings_;
    Crew& crew_;
    std::vector<std::uint32_t> kernels_;
    std::vector<Meeting> meetings_;
    std::set<std::uint32_t> left_;
    double next_s_ = 0;
    bool alone_ = false;  // there are no other kernels
    std::uint32_t turn_ = 0, last_id_ = 0;
};

}  // namespace strata::integrity
