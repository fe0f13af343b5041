// A thread whose next operation cannot start looks ahead in its list, joins loops, and takes over operations
// that other threads have not begun.
#include <sched.h>

#include <algorithm>

#include "core/graph/execute/thread.hpp"

namespace strata::graph::detail {
namespace {

// Passes without success before a thread takes operations from its domain, and from other domains. A pass
// takes some ten nanoseconds. A thread that took them at once would take from threads that are only a little
// behind, and both would then work on data in the other's cache.
constexpr unsigned kBeforeNear = 8, kBeforeFar = 64;
// Passes before it looks twice as far ahead. There is no limit, so any acyclic program is completed.
constexpr unsigned kBeforeFarther = 32;

}  // namespace

bool Thread::take(std::atomic<Epoch>& claim, Epoch epoch) {
    Epoch last = claim.load(std::memory_order_relaxed);
    return !reached(last, epoch) &&
           claim.compare_exchange_strong(last, epoch, std::memory_order_acquire, std::memory_order_relaxed);
}

bool Thread::holds(const Wait& wait) {
    const Epoch flag = wait.flag->load(std::memory_order_acquire);
    if (reached(flag, counts_[wait.scope] - wait.lag)) return true;
    block_on(*wait.flag, flag);
    return false;
}

bool Thread::holds(const Waits::Run& run) {
    const Waits& all = *shared_.plan.waits;
    const Waits::Round& round = all.rounds[run.round];
    const Epoch need = counts_[round.scope] - round.lag;
    const Flag* const first = all.flag(run);
    for (const Flag* flag = first; flag != first + run.count; ++flag)
        if (const Epoch have = flag->load(std::memory_order_acquire); !reached(have, need)) {
            block_on(*flag, have);
            return false;
        }
    return true;
}

/// A wait that holds continues to hold until the operation has run, so it is not read again.
bool Thread::head_holds(const Op& op) {
    for (; held_ < op.foreign; ++held_)
        if (!holds(shared_.plan.waits->runs[op.first_wait + held_])) return false;
    return true;
}

bool Thread::all_hold(const Op& op, const Epoch* counts) const {
    const Waits& all = *shared_.plan.waits;
    const Waits::Run* run = all.runs.data() + op.first_wait;
    for (const Waits::Run* const end = all.runs.data() + op.last_wait; run != end; ++run) {
        const Waits::Round& round = all.rounds[run->round];
        const Epoch need = counts[round.scope] - round.lag;
        const Flag* const first = all.flag(*run);
        for (const Flag* flag = first; flag != first + run->count; ++flag)
            if (!reached(flag->load(std::memory_order_acquire), need)) return false;
    }
    return true;
}

bool Thread::is_pending(std::uint32_t at) const {
    return std::find(pending_.begin(), pending_.end(), at) != pending_.end();
}

bool Thread::find_own(unsigned pass) {
    const std::uint32_t before = head_;
    run_in_order();
    if (head_ != before) {
        doublings_ = 0;
        return true;
    }
    return poll() || look_ahead(pass);
}

std::uint32_t Thread::horizon(std::uint32_t from, std::uint32_t size, unsigned doublings) const {
    const std::uint64_t far = std::uint64_t{shared_.options.look_ahead} << std::min(doublings, 31U);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(size, from + far));
}

/// Whether an entry of the own list was begun, by this thread or another.
bool Thread::begun(std::uint32_t at) const {
    if (many_) return reached(list_->claims[at].load(std::memory_order_relaxed), epoch_);
    return at < touched_ &&
           (reached((*list_)[at].flag->load(std::memory_order_relaxed), epoch_) || is_pending(at));
}

bool Thread::look_ahead(unsigned pass) {
    open_ = std::max(open_, head_);
    while (open_ < list_->size && begun(open_)) ++open_;
    const std::uint32_t end = horizon(open_, list_->size, doublings_);
    for (std::uint32_t at = open_; at < end; ++at) {
        const Op& op = (*list_)[at];
        if (begun(at) || !all_hold(op, counts_.data())) continue;
        if (many_ && !take(list_->claims[at], epoch_)) continue;
        touched_ = std::max(touched_, at + 1);
        if (!perform(op, epoch_)) pending_.push_back(at);
        return true;
    }
    // The distance grows, and stays so until the head can go on.
    if (end < list_->size && (asleep() || pass % kBeforeFarther == kBeforeFarther - 1)) ++doublings_;
    return false;
}

bool Thread::poll() {
    if (!hook_ && pending_.empty()) return false;
    if (idle_since_ == 0) idle_since_ = ticks();
    polled_ = ticks();
    if (hook_) {
        current_ = nullptr;
        shared_.options.progress();
    }
    bool any = false;
    for (std::size_t i = 0; i < pending_.size();) {
        if (perform((*list_)[pending_[i]], epoch_)) {
            pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(i));
            any = true;
        } else {
            ++i;
        }
    }
    return any;
}

bool Thread::steal(unsigned pass) {
    const bool patient = !asleep();
    if (patient && pass < kBeforeNear) return false;
    for (const int victim : near_)
        if (steal_from(victim, pass)) return true;
    if (patient && pass < kBeforeFar) return false;
    for (const int victim : far_)
        if (steal_from(victim, pass)) return true;
    return false;
}

/// Reads another thread's position, and the counts that belong to it into victims_counts_. Returns false
/// where they change at this moment, or there is no position.
bool Thread::read_position(int victim, std::int32_t& block) {
    const ThreadPosition& position = *shared_.positions[static_cast<std::size_t>(victim)];
    const std::uint32_t changes = position.changes.load(std::memory_order_acquire);
    if (changes % 2 != 0) return false;
    block = position.block.load(std::memory_order_acquire);
    for (std::size_t scope = 0; scope < victims_counts_.size(); ++scope)
        victims_counts_[scope] = position.counts[scope].load(std::memory_order_acquire);
    return block >= 0 && position.changes.load(std::memory_order_relaxed) == changes;
}

bool Thread::steal_from(int victim, unsigned pass) {
    std::int32_t number = -1;
    if (!read_position(victim, number)) return false;
    const ThreadBlock& block = shared_.plan.blocks[static_cast<std::size_t>(number)];
    const OpList& list = block.lists[static_cast<std::size_t>(victim)];
    const Epoch epoch = victims_counts_[block.scope];
    const ThreadPosition& position = *shared_.positions[static_cast<std::size_t>(victim)];
    const std::uint32_t head = std::min(position.head.load(std::memory_order_relaxed), list.size);
    // From the far end: the operations that the owner would reach last.
    for (std::uint32_t at = horizon(head, list.size, asleep() ? pass : pass / kBeforeFarther); at-- > head;) {
        const Op& op = list[at];
        if (reached(list.claims[at].load(std::memory_order_relaxed), epoch)) continue;
        if (op.speaks_mpi && !speaks_) continue;
        if (!all_hold(op, victims_counts_.data()) || !take(list.claims[at], epoch)) continue;
        epochs_ = victims_counts_.data();
        const bool done = perform(op, epoch);
        epochs_ = counts_.data();
        if (!done) {  // any thread may ask again
            list.claims[at].store(epoch - 1, std::memory_order_release);
            continue;
        }
        ++stolen_;
        return true;
    }
    return false;
}

bool Thread::join_loops() {
    if ((shared_.attention.load(std::memory_order_relaxed) & ~Shared::kEnded) == 0) return false;
    bool any = false;
    for (const auto& each : shared_.loops) {
        SharedLoop& loop = *each;
        std::uint32_t state = loop.state.load(std::memory_order_relaxed);
        if ((state & SharedLoop::kOpen) == 0) continue;
        if ((state & ~SharedLoop::kOpen) >= loop.most.load(std::memory_order_relaxed)) continue;
        if (!loop.state.compare_exchange_strong(state, state + 1, std::memory_order_acquire)) continue;
        const bool more = loop.next.load(std::memory_order_relaxed) < loop.end;
        if (more && (state & ~SharedLoop::kOpen) < loop.most.load(std::memory_order_relaxed)) {
            if (idle_since_ != 0) before(ticks());
            meter_ == nullptr ? take_parts(loop) : take_parts_metered(loop);
            if (ring_ != nullptr) ring_->put(loop.op, loop.step, ticks());
            any = true;
        }
        loop.state.fetch_sub(1, std::memory_order_release);
    }
    return any;
}

void Thread::take_parts(SharedLoop& loop) {
    try {
        while (true) {
            const std::int64_t first = loop.next.fetch_add(loop.grain, std::memory_order_relaxed);
            if (first >= loop.end) break;
            loop.part(loop.held, first, std::min(first + loop.grain, loop.end), thread_);
        }
    } catch (...) {
        loop.next.store(loop.end, std::memory_order_relaxed);
        const std::lock_guard lock(loop.mutex);
        if (!loop.thrown) loop.thrown = std::current_exception();
    }
}

/// The meter counts parts of another thread's operation for that operation. They are never its end (`false`):
/// its own thread ends it.
void Thread::take_parts_metered(SharedLoop& loop) {
    struct Held {
        SharedLoop& loop;
        Thread& thread;
    } held{loop, *this};
    meter_->around(
        loop.op, thread_,
        [](void* what) {
            const Held& of = *static_cast<Held*>(what);
            of.thread.take_parts(of.loop);
            return false;
        },
        &held);
}

void Thread::share(const Parts& parts) {
    if (shared_.loops.empty()) return parts.part(parts.held, parts.begin, parts.end, thread_);
    SharedLoop& loop = *shared_.loops[static_cast<std::size_t>(thread_)];
    const std::uint32_t threads =
        std::min(static_cast<std::uint32_t>(current_->threads), static_cast<std::uint32_t>(threads_));
    if (threads <= 1 || parts.end - parts.begin <= parts.grain ||
        loop.state.load(std::memory_order_relaxed) != 0) {
        parts.part(parts.held, parts.begin, parts.end, thread_);
        return;
    }
    loop.part = parts.part;
    loop.held = parts.held;
    loop.end = parts.end;
    loop.grain = parts.grain;
    loop.op = number_of(*current_);
    loop.step = epochs_[0];
    loop.thrown = nullptr;
    loop.next.store(parts.begin, std::memory_order_relaxed);
    loop.most.store(threads - 1, std::memory_order_relaxed);
    loop.state.store(SharedLoop::kOpen, std::memory_order_release);
    shared_.attention.fetch_add(1);
    take_parts(loop);
    shared_.attention.fetch_sub(1);
    loop.state.fetch_and(~SharedLoop::kOpen);
    for (unsigned look = 0; loop.state.load(std::memory_order_acquire) != 0; ++look) {
        team::detail::relax();
        if (spin_ticks_ == 0 || look % 1024 == 1023) sched_yield();
    }
    if (loop.thrown) std::rethrow_exception(loop.thrown);
}

}  // namespace strata::graph::detail
