#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <vector>

#include "core/machine/machine.hpp"

namespace strata::bench {

/// The PUs that this process may use, by their system's numbers. Not merely the affinity of the calling
/// thread: an OpenMP runtime that binds has already narrowed that to one core before main() began. In order:
/// what the launcher says (STRATA_CPUS), the places of the OpenMP runtime, the affinity.
[[nodiscard]] std::vector<int> process_pus();

/// Of those, the first of each core, in the machine's order of cores.
[[nodiscard]] std::vector<int> one_pu_a_core(const machine::Machine& machine, std::span<const int> pus);

/// Runs work(i) on a thread for each PU, all at once, each bound to its own; returns when all have ended. The
/// first runs on the calling thread, whose binding is put back. Throws Error where a thread cannot be bound.
void on_pus(std::span<const int> pus, const std::function<void(int)>& work);

/// A barrier of bound threads that spins: it releases within one cache-line transfer, where a barrier that
/// sleeps needs microseconds. Only for threads that each have a core to themselves.
class SpinBarrier {
  public:
    explicit SpinBarrier(int members) : members_(members) {}
    void wait() {
        const unsigned round = round_.load(std::memory_order_relaxed);
        if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
            arrived_.store(0, std::memory_order_relaxed);
            round_.store(round + 1, std::memory_order_release);
        } else {
            while (round_.load(std::memory_order_acquire) == round) {
            }
        }
    }

  private:
    const int members_;
    alignas(128) std::atomic<int> arrived_{0};
    alignas(128) std::atomic<unsigned> round_{0};
};

}  // namespace strata::bench
