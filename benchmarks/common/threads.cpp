#include "benchmarks/common/threads.hpp"

#include <sched.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <latch>
#include <memory>
#include <string>
#include <thread>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"

namespace strata::bench {
namespace {

/// A CPU set as large as this system needs.
class CpuSet {
  public:
    CpuSet() {
        for (most_ = 1024;; most_ *= 2) {
            set_.reset(CPU_ALLOC(most_));
            if (sched_getaffinity(0, bytes(), set_.get()) == 0 || most_ > (1U << 18)) return;
        }
    }
    [[nodiscard]] std::vector<int> pus() const {
        std::vector<int> found;
        for (std::size_t pu = 0; pu < most_; ++pu)
            if (CPU_ISSET_S(pu, bytes(), set_.get())) found.push_back(static_cast<int>(pu));
        return found;
    }
    [[nodiscard]] bool bind_to(int pu) {
        CPU_ZERO_S(bytes(), set_.get());
        CPU_SET_S(static_cast<std::size_t>(pu), bytes(), set_.get());
        return apply();
    }
    [[nodiscard]] bool apply() const { return sched_setaffinity(0, bytes(), set_.get()) == 0; }

  private:
    struct Free {
        void operator()(cpu_set_t* set) const { CPU_FREE(set); }
    };
    [[nodiscard]] std::size_t bytes() const { return CPU_ALLOC_SIZE(most_); }
    std::size_t most_ = 0;
    std::unique_ptr<cpu_set_t, Free> set_;
};

std::vector<int> openmp_places() {
    std::vector<int> pus;
#ifdef _OPENMP
    if (omp_get_proc_bind() == omp_proc_bind_false) return pus;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
        omp_get_place_proc_ids(place, ids.data());
        pus.insert(pus.end(), ids.begin(), ids.end());
    }
    std::sort(pus.begin(), pus.end());
    pus.erase(std::unique(pus.begin(), pus.end()), pus.end());
#endif
    return pus;
}

}  // namespace

std::vector<int> process_pus() {
    if (const char* said = std::getenv("STRATA_CPUS"); said != nullptr && *said != '\0')
        return parse_cpulist(said);
    std::vector<int> pus = openmp_places();
    return pus.empty() ? CpuSet().pus() : pus;
}

std::vector<int> one_pu_a_core(const machine::Machine& machine, std::span<const int> pus) {
    std::vector<int> chosen;
    for (const machine::Core& core : machine.cores) {
        const auto mine = std::find_if(core.pus.begin(), core.pus.end(), [&](int pu) {
            return std::find(pus.begin(), pus.end(), pu) != pus.end();
        });
        if (mine != core.pus.end()) chosen.push_back(*mine);
    }
    return chosen;
}

void on_pus(std::span<const int> pus, const std::function<void(int)>& work) {
    if (pus.empty()) return;
    std::vector<std::exception_ptr> failures(pus.size());
    const CpuSet before;
    // All bind before any works: a member that cannot be bound must not leave the others waiting in a
    // barrier.
    std::latch bound(static_cast<std::ptrdiff_t>(pus.size()));
    std::atomic<int> unbound{0};
    const auto member = [&](std::size_t i) {
        try {
            CpuSet own;
            if (!own.bind_to(pus[i])) {
                const int error = errno;
                unbound.fetch_add(1);
                bound.arrive_and_wait();
                throw system_error("a thread cannot be bound to a PU", error).given(std::to_string(pus[i]));
            }
            bound.arrive_and_wait();
            if (unbound.load() == 0) work(static_cast<int>(i));
        } catch (...) {
            failures[i] = std::current_exception();
        }
    };
    std::vector<std::thread> threads;
    threads.reserve(pus.size() - 1);
    for (std::size_t i = 1; i < pus.size(); ++i) threads.emplace_back(member, i);
    member(0);
    for (std::thread& thread : threads) thread.join();
    if (!before.apply()) throw system_error("the binding of a thread cannot be put back", errno);
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace strata::bench
