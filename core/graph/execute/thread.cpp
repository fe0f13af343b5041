#include "core/graph/execute/thread.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/reason.hpp"

namespace strata::graph::detail {
namespace {

/// One gap between operations in so many is measured. A prime, which divides few usual numbers of patches or
/// tasks.
constexpr std::uint32_t kBetweenGaps = 61;

std::uint64_t to_ticks(double seconds, const TickRate& rate) {
    return seconds > 0 ? static_cast<std::uint64_t>(seconds / rate.seconds) : 0;
}

}  // namespace

Thread::Thread(Shared& shared, int thread)
    : Worker(thread, shared.plan.threads, nullptr),
      shared_(shared),
      many_(shared.plan.threads > 1),
      speaks_(thread == shared.options.speaker),
      meter_(shared.options.meter),
      counts_(shared.counts),
      victims_counts_(shared.counts),
      sleepers_(shared.options.sleepers != nullptr ? shared.options.sleepers : &shared.own_sleepers),
      dice_(shared.options.shuffle.seed + static_cast<std::uint64_t>(thread) * 1'000'003U +
            shared.counts[0] * std::uint64_t{7919}),
      shuffled_(shared.options.shuffle.seed != 0),
      plain_(!shuffled_ && meter_ == nullptr && shared.rings.empty()) {
    epochs_ = counts_.data();
    const auto domain = [&](int of) {
        const auto at = static_cast<std::size_t>(of);
        return at < shared.options.domains.size() ? shared.options.domains[at] : 0;
    };
    for (int step = 1; step < threads_; ++step) {
        const int other = (thread_ + step) % threads_;
        (domain(other) == domain(thread_) ? near_ : far_).push_back(other);
    }
    if (!shared.rings.empty()) ring_ = shared.rings[static_cast<std::size_t>(thread)].get();
    spin_ticks_ = to_ticks(1e-9 * static_cast<double>(shared.options.patience.spin_ns), shared.rate);
    poll_ticks_ = to_ticks(shared.options.progress_interval, shared.rate);
    interrupted_ = to_ticks(1e-5, shared.rate);
    hook_ = speaks_ && shared.options.progress;
}

void Thread::work(std::uint32_t steps_wanted, const Decision& go_on) {
    const std::uint64_t begin = ticks();
    if (ring_ != nullptr) ring_->begin(begin);
    try {
        steps(steps_wanted, go_on);
        shared_.finished.fetch_add(1);
        if (sleepers_->load() != 0) wake(shared_.finished);
        if (many_)
            idle([&](unsigned) {
                const Epoch finished = shared_.finished.load(std::memory_order_acquire);
                block_on(shared_.finished, finished);
                return finished == static_cast<Epoch>(threads_);
            });
        if (thread_ == 0) shared_.counts = counts_;
    } catch (const Ended&) {  // NOLINT(bugprone-empty-catch): the thread that ended it keeps the exception
    } catch (...) {
        try {
            complete_message();
        } catch (...) {
            shared_.fail(std::current_exception());
        }
    }
    count_usage(begin);
}

void Thread::steps(std::uint32_t wanted, const Decision& go_on) {
    const ThreadBlock& step = shared_.plan.blocks.front();
    for (std::uint32_t done = 0; done < wanted; ++done) {
        check_ended();
        check_failure();
        ++counts_[0];
        go_through(step);
        if (thread_ == 0) shared_.steps = done + 1;
        if (go_on.more != nullptr && done + 1 < wanted && !ask(go_on, shared_.plan.decisions)) break;
    }
}

void Thread::go_inside(const ThreadBlock& block) {
    for (const int part : block.inside) go_through(shared_.plan.blocks[static_cast<std::size_t>(part)]);
}

void Thread::go_through(const ThreadBlock& block) {
    switch (block.kind) {
        case Block::Kind::ops:
            run_list(block);
            break;
        case Block::Kind::sequence:
            go_inside(block);
            break;
        case Block::Kind::when:
            if (!ask(block.ask, block.decision)) break;
            ++counts_[block.scope];
            go_inside(block);
            break;
        case Block::Kind::repeat:
        case Block::Kind::subcycle:
            for (std::uint32_t round = 0; round < block.most; ++round) {
                ++counts_[block.scope];
                go_inside(block);
                if (block.decision >= 0 && round + 1 < block.most && !ask(block.ask, block.decision)) break;
            }
            break;
    }
}

bool Thread::ask(const Decision& decision, int number) {
    const Epoch epoch = counts_[decision.decided.scope] - decision.decided.lag;
    const auto is_decided = [&] { return decision.decided.flag == nullptr || holds(decision.decided); };
    if (!many_) {
        idle([&](unsigned) { return is_decided(); });
        current_ = nullptr;
        return decision.more(decision.what, epoch);
    }
    const auto at = static_cast<std::size_t>(number);
    std::atomic<std::uint64_t>& mine = shared_.asked[static_cast<std::size_t>(thread_)].rounds[at];
    const std::uint64_t round = mine.load(std::memory_order_relaxed) + 1;
    std::atomic<std::uint64_t>& slot = shared_.answers[at]->log[round % Answers::kRounds];
    bool answer = false;
    idle([&](unsigned) {
        std::uint64_t seen = slot.load(std::memory_order_acquire);
        if (seen >> 2U == round) {
            answer = (seen & 3U) == Answers::kYes;
            return (seen & 3U) != Answers::kAsking;
        }
        if (!is_decided()) return false;
        // A slower thread may still have to read the earlier answer in this slot.
        for (const Asked& others : shared_.asked)
            if (others.rounds[at].load(std::memory_order_acquire) + Answers::kRounds < round) return false;
        if (!slot.compare_exchange_strong(seen, round << 2U | Answers::kAsking)) return false;
        current_ = nullptr;
        answer = decision.more(decision.what, epoch);
        slot.store(round << 2U | (answer ? Answers::kYes : Answers::kNo), std::memory_order_release);
        return true;
    });
    mine.store(round, std::memory_order_release);
    return answer;
}

void Thread::run_list(const ThreadBlock& block) {
    const OpList& list = block.lists[static_cast<std::size_t>(thread_)];
    if (list.size == 0) return;
    list_ = &list;
    epoch_ = counts_[block.scope];
    head_ = touched_ = open_ = held_ = 0;
    doublings_ = 0;
    if (many_) {
        ThreadPosition& position = *shared_.positions[static_cast<std::size_t>(thread_)];
        const std::uint32_t changes = position.changes.load(std::memory_order_relaxed);
        position.changes.store(changes + 1, std::memory_order_release);
        position.block.store(static_cast<std::int32_t>(&block - shared_.plan.blocks.data()),
                             std::memory_order_release);
        position.head.store(0, std::memory_order_release);
        for (std::size_t scope = 0; scope < counts_.size(); ++scope)
            position.counts[scope].store(counts_[scope], std::memory_order_release);
        position.changes.store(changes + 2, std::memory_order_release);
    }
    while (true) {
        if (shuffled_) {
            idle([this](unsigned pass) { return find_any(pass); });
        } else {
            run_in_order();
            if (head_ < list.size) idle([this](unsigned pass) { return find_own(pass); });
        }
        if (head_ == list.size) break;
    }
    list_ = nullptr;
}

/// Work between two operations: the end of the batch, open loops, messages.
inline void Thread::attend() {
    if (many_ && shared_.attention.load(std::memory_order_relaxed) != 0) {
        check_ended();
        static_cast<void>(join_loops());
    }
    if (hook_ || !pending_.empty()) poll_now_and_then();
}

void Thread::run_in_order() {
    const OpList list = *list_;  // a copy stays in registers
    while (head_ < list.size) {
        const Op& op = list[head_];
        if (held_ < op.foreign && !head_holds(op)) return;
        if (many_ ? !take(list.claims[head_], epoch_) : head_ < touched_) {
            // Another thread took it, or this one tried it earlier, when it looked ahead.
            const Epoch flag = op.flag->load(std::memory_order_acquire);
            if (reached(flag, epoch_)) {
                advance();
                continue;
            }
            if (many_ || is_pending(head_)) {
                block_on(*op.flag, flag);
                return;
            }
        }
        if (!perform(op, epoch_)) {
            pending_.push_back(head_);
            touched_ = std::max(touched_, head_ + 1);
            return;
        }
        advance();
        attend();
    }
}

std::uint32_t Thread::number_of(const Op& op) const {
    return static_cast<std::uint32_t>(&op - shared_.program.ops.data());
}

inline void Thread::finish(const Op& op) {
    ++done_;
    if (--until_gap_ == 0) {
        until_gap_ = kBetweenGaps;
        gap_from_ = ticks();
    }
    if (sleepers_->load(std::memory_order_relaxed) != 0) wake(*op.flag);
}

bool Thread::perform(const Op& op, Epoch epoch) {
    if (!plain_ || (idle_since_ | gap_from_) != 0) return perform_noted(op, epoch);
    current_ = &op;
    if (op.go(op.what, *this) == Outcome::later) {
        idle_since_ = ticks();
        return false;
    }
    op.flag->store(epoch, std::memory_order_release);
    finish(op);
    return true;
}

/// The same where something besides the operation is to be done.
bool Thread::perform_noted(const Op& op, Epoch epoch) {
    std::uint64_t since = 0;
    if ((idle_since_ | gap_from_) != 0) before(since = ticks());
    current_ = &op;
    if (shuffled_) delay();
    if ((meter_ == nullptr ? op.go(op.what, *this) : metered(op)) == Outcome::later) {
        idle_since_ = since != 0 ? since : ticks();  // a call without success counts as waiting
        return false;
    }
    if (shuffled_) delay();
    op.flag->store(epoch, std::memory_order_release);
    if (ring_ != nullptr) ring_->put(number_of(op), epochs_[0], ticks());
    finish(op);
    return true;
}

Outcome Thread::metered(const Op& op) {
    struct Held {
        const Op& op;
        Thread& thread;
    } held{op, *this};
    const bool done = meter_->around(
        number_of(op), thread_,
        [](void* what) {
            const Held& of = *static_cast<Held*>(what);
            return of.op.go(of.op.what, of.thread) == Outcome::done;
        },
        &held);
    return done ? Outcome::done : Outcome::later;
}

void Thread::before(std::uint64_t now) {
    if (idle_since_ != 0) {
        waited_ += now - idle_since_;
        idle_since_ = 0;
        if (ring_ != nullptr) ring_->wait(counts_[0], now);
    } else if (gap_from_ != 0) {
        // A long gap means that the thread was interrupted. Such a gap does not count for the mean.
        const std::uint64_t gap = now - gap_from_;
        if (gap < interrupted_) {
            gap_ticks_ += gap;
            ++gaps_;
        }
    }
    gap_from_ = 0;
}

void Thread::count_usage(std::uint64_t begin) {
    const TickRate& rate = shared_.rate;
    const double total = static_cast<double>(ticks() - begin) * rate.seconds;
    Usage& usage = shared_.usage[static_cast<std::size_t>(thread_)];
    usage.operations = done_;
    usage.stolen = stolen_;
    usage.waiting = std::min(total, static_cast<double>(waited_) * rate.seconds);
    if (gaps_ > 0) {
        const double gap = static_cast<double>(gap_ticks_) / static_cast<double>(gaps_) - rate.reading;
        usage.runtime =
            std::clamp(gap * rate.seconds * static_cast<double>(done_), 0.0, total - usage.waiting);
    }
    usage.tasks = total - usage.waiting - usage.runtime;
}

/// Rethrows the exception being handled, with the name, patch and step of the running operation in its
/// message.
void Thread::complete_message() {
    if (current_ == nullptr) throw;
    const Op& op = *current_;
    std::string what = op.name < shared_.program.names.size() ? shared_.program.names[op.name]
                                                              : fmt::format("operation {}", number_of(op));
    if (op.patch >= 0) what += fmt::format(" on patch {}", op.patch);
    what += fmt::format(" in step {}", epochs_[0]);
    try {
        throw;
    } catch (const team::MemberLost&) {
        throw;
    } catch (Error& error) {
        if (!error.message().starts_with("task '"))
            error.within(what);  // Here::fail has already named task, patch and step
        throw;
    } catch (const std::exception& error) {
        throw Error(fmt::format("{}: {}", what, reason_of(error)), kFailure);
    }
}

}  // namespace strata::graph::detail
