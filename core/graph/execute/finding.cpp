// What a thread does when its next operation cannot start: it looks ahead in its list, takes part in loops,
// takes over what others have not begun.
#include <sched.h>

#include <algorithm>

#include "core/graph/execute/thread.hpp"

namespace strata::graph::detail {
namespace {

// Passes in which nothing was found before a thread takes from its domain, and from others. Each takes some
// ten nanoseconds: who takes at once takes from threads that are only a little behind, and both then work on
// data that the other's cache holds.
constexpr unsigned kBeforeNear = 8, kBeforeFar = 64;
// Passes before it looks twice as far ahead; without end, so that any acyclic program comes to its end.
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

/// Waits that hold go on to hold for as long as the operation has not run.
bool Thread::head_holds(const OpEntry& entry) {
    for (; held_ < entry.foreign; ++held_)
        if (!holds(shared_.plan.waits[entry.first_wait + held_])) return false;
    return true;
}

bool Thread::all_hold(const OpEntry& entry, const Epoch* counts) const {
    const Wait* wait = shared_.plan.waits.data() + entry.first_wait;
    for (const Wait* const end = wait + entry.waits; wait != end; ++wait)
        if (!reached(wait->flag->load(std::memory_order_acquire), counts[wait->scope] - wait->lag))
            return false;
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
           (reached(list_->entries[at].flag->load(std::memory_order_relaxed), epoch_) || is_pending(at));
}

bool Thread::look_ahead(unsigned pass) {
    open_ = std::max(open_, head_);
    while (open_ < list_->size && begun(open_)) ++open_;
    const std::uint32_t end = horizon(open_, list_->size, doublings_);
    for (std::uint32_t at = open_; at < end; ++at) {
        const OpEntry& entry = list_->entries[at];
        if (begun(at) || !all_hold(entry, counts_.data())) continue;
        if (many_ && !take(list_->claims[at], epoch_)) continue;
        touched_ = std::max(touched_, at + 1);
        if (!perform(entry, epoch_)) pending_.push_back(at);
        return true;
    }
    // As far as it had to look, it looks until its head can go on.
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
        if (perform(list_->entries[pending_[i]], epoch_)) {
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

/// Where another thread is, with the counts that belong to it, in victims_counts_.
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
    // From the far end: what its owner would come to last.
    for (std::uint32_t at = horizon(head, list.size, asleep() ? pass : pass / kBeforeFarther); at-- > head;) {
        const OpEntry& entry = list.entries[at];
        if (reached(list.claims[at].load(std::memory_order_relaxed), epoch)) continue;
        if (entry.speaks_mpi && !speaks_) continue;
        if (!all_hold(entry, victims_counts_.data()) || !take(list.claims[at], epoch)) continue;
        epochs_ = victims_counts_.data();
        const bool done = perform(entry, epoch);
        epochs_ = counts_.data();
        if (!done) {  // whoever comes by may ask again
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

/// Parts of another thread's operation count as that operation, which that thread ends.
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
    loop.op = current_->op;
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
