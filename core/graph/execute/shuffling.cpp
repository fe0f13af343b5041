// For tests: random orders that the program allows, and random delays.
#include <algorithm>
#include <ctime>

#include "core/graph/execute/thread.hpp"

namespace strata::graph::detail {

/// Replaces find_own: takes a random operation among those that can start.
bool Thread::find_any(unsigned pass) {
    constexpr std::uint32_t one_in = 8;
    while (head_ < list_->size) {
        const Epoch flag = (*list_)[head_].flag->load(std::memory_order_acquire);
        if (!reached(flag, epoch_)) break;
        advance();
    }
    if (head_ == list_->size) return true;
    if (many_ && dice_.below(one_in) == 0 && steal(~0U)) return true;
    if (poll()) return true;
    std::vector<std::uint32_t> ready;
    const std::uint32_t end = horizon(head_, list_->size, pass);
    for (std::uint32_t at = head_; at < end; ++at)
        if (!begun(at) && all_hold((*list_)[at], counts_.data())) ready.push_back(at);
    if (ready.empty()) return false;
    const std::uint32_t at = ready[dice_.below(static_cast<std::uint32_t>(ready.size()))];
    if (many_ && !take(list_->claims[at], epoch_)) return false;
    touched_ = std::max(touched_, at + 1);
    if (!perform((*list_)[at], epoch_)) pending_.push_back(at);
    return true;
}

void Thread::delay() {
    const Shuffle& shuffle = shared_.options.shuffle;
    if (dice_.unit() >= shuffle.delay_chance) return;
    const double seconds = shuffle.longest_delay * dice_.unit();
    if (dice_.below(2) == 0) {
        const timespec time{0, static_cast<long>(1e9 * seconds)};
        nanosleep(&time, nullptr);
    } else {
        const auto until = ticks() + static_cast<std::uint64_t>(seconds / shared_.rate.seconds);
        while (ticks() < until) team::detail::relax();
    }
}

}  // namespace strata::graph::detail
