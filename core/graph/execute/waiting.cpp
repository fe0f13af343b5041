// Waiting: a thread spins, then yields, then sleeps.
//
// A thread sleeps on the flag that its next operation waits for (a futex). A thread that sets a flag first
// reads the number of sleepers, by a plain load of a cache line that changes only when a thread falls asleep
// or wakes. No fence orders that load after the store of the flag, since a fence would cost as much as the
// rest of an operation. So a thread that falls asleep within those nanoseconds may miss its wake-up. Its
// sleep has a limit, and it looks again after at most two milliseconds.
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

#include "core/graph/execute/thread.hpp"

namespace strata::graph::detail {
namespace {

constexpr long kShortest = 100'000, kLongest = 2'000'000;  // ns
/// Limit of a sleep for a thread that also has to poll messages or files.
constexpr long kWithPolls = 50'000;
constexpr unsigned kBetweenChecks = 16;

void futex(const Flag& flag, int what, std::uint32_t value, const timespec* time) {
    syscall(SYS_futex, &flag, what, value, time, nullptr, 0);
}

}  // namespace

void Thread::check_ended() {
    if ((shared_.attention.load(std::memory_order_acquire) & Shared::kEnded) != 0) throw Ended{};
}

void Thread::check_failure() const {
    if (shared_.options.patience.failure != nullptr) shared_.options.patience.failure->check();
}

void Thread::idle_step(unsigned pass) {
    if (pass % kBetweenChecks == 0) check_failure();
    if (many_) {
        check_ended();
        if (join_loops() || steal(pass)) return;
    }
    if (list_ == nullptr && hook_) static_cast<void>(poll());
    pause();
}

void Thread::poll_now_and_then() {
    if (ticks() - polled_ >= poll_ticks_) static_cast<void>(poll());
}

void Thread::pause() {
    if (idle_since_ != 0 && ticks() - idle_since_ < spin_ticks_) {
        team::detail::relax();
        return;
    }
    if (yields_++ < shared_.options.patience.yields) {
        sched_yield();
        return;
    }
    sleep();
}

void Thread::sleep() {
    long ns = std::min(kShortest << std::min(sleeps_, 8), kLongest);
    if (hook_ || !pending_.empty()) ns = kWithPolls;
    ++sleeps_;
    check_failure();
    const timespec time{0, ns};
    sleepers_->fetch_add(1);
    if (blocked_ == nullptr)
        nanosleep(&time, nullptr);
    else if (blocked_->load() == seen_)
        futex(*blocked_, FUTEX_WAIT, seen_, &time);  // not FUTEX_PRIVATE: it may be another process's
    sleepers_->fetch_sub(1);
}

void Thread::wake(const Flag& flag) { futex(flag, FUTEX_WAKE, INT_MAX, nullptr); }

}  // namespace strata::graph::detail
