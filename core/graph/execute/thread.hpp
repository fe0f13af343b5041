// One thread's run through a program.
#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/execute/random.hpp"
#include "core/graph/execute/shared.hpp"
#include "core/graph/execute/worker.hpp"

namespace strata::graph::detail {

class Thread final : public Worker {
  public:
    Thread(Shared& shared, int thread);
    /// Goes through the program `steps` times, or until `go_on` says no. Keeps an exception in `shared`.
    void work(std::uint32_t steps, const Decision& go_on);

  private:
    // thread.cpp: blocks, and operations in their order
    void steps(std::uint32_t steps, const Decision& go_on);
    void go_through(const ThreadBlock& block);
    void go_inside(const ThreadBlock& block);
    [[nodiscard]] bool ask(const Decision& decision, int number);
    void run_list(const ThreadBlock& block);
    void run_in_order();
    void attend();
    void advance();
    [[nodiscard]] bool perform(const Op& op, Epoch epoch);
    [[nodiscard]] bool perform_noted(const Op& op, Epoch epoch);
    void finish(const Op& op);
    [[nodiscard]] std::uint32_t number_of(const Op& op) const;
    [[nodiscard]] Outcome metered(const Op& op);
    void before(std::uint64_t now);
    void count_usage(std::uint64_t begin);
    void complete_message();

    // finding.cpp: other work while the next operation cannot start
    [[nodiscard]] bool holds(const Wait& wait);
    [[nodiscard]] bool holds(const Waits::Run& run);
    [[nodiscard]] bool head_holds(const Op& op);
    [[nodiscard]] bool all_hold(const Op& op, const Epoch* counts) const;
    [[nodiscard]] bool read_position(int victim, std::int32_t& block);
    [[nodiscard]] bool find_own(unsigned pass);
    [[nodiscard]] bool look_ahead(unsigned pass);
    [[nodiscard]] std::uint32_t horizon(std::uint32_t from, std::uint32_t size, unsigned doublings) const;
    [[nodiscard]] bool begun(std::uint32_t at) const;
    [[nodiscard]] bool poll();
    [[nodiscard]] bool steal(unsigned pass);
    [[nodiscard]] bool steal_from(int victim, unsigned pass);
    [[nodiscard]] bool join_loops();
    void take_parts(SharedLoop& loop);
    void take_parts_metered(SharedLoop& loop);
    void share(const Parts& parts) override;

    // waiting.cpp
    template <class Ready>
    void idle(Ready ready);
    void idle_step(unsigned pass);
    void check_ended();
    void check_failure() const;
    void poll_now_and_then();
    void pause();
    /// Whether the thread sleeps between passes without success: there are few of them then.
    [[nodiscard]] bool asleep() const { return spin_ticks_ == 0 || sleeps_ > 0; }
    void sleep();
    void block_on(const Flag& flag, Epoch seen) { blocked_ = &flag, seen_ = seen; }
    void wake(const Flag& flag);

    // shuffling.cpp
    [[nodiscard]] bool find_any(unsigned pass);
    void delay();

    [[nodiscard]] bool is_pending(std::uint32_t at) const;
    [[nodiscard]] static bool take(std::atomic<Epoch>& claim, Epoch epoch);

    Shared& shared_;
    const bool many_;    // there are other threads in this process
    const bool speaks_;  // MPI
    Meter* const meter_;
    bool hook_ = false;                           // and calls options.progress
    std::vector<Epoch> counts_, victims_counts_;  // [scope]
    std::vector<int> near_, far_;                 // threads to take operations from
    Ring* ring_ = nullptr;
    std::atomic<std::uint32_t>* sleepers_;

    // The thread's list in the current block.
    const OpList* list_ = nullptr;
    Epoch epoch_ = 0;
    std::uint32_t head_ = 0;              // all entries before it are done
    std::uint32_t touched_ = 0;           // this thread began no entry from here on
    std::uint32_t open_ = 0;              // all entries before it were begun, by any thread
    unsigned doublings_ = 0;              // of the distance that it looks ahead
    std::uint32_t held_ = 0;              // number of the head's waits that are known to hold
    std::vector<std::uint32_t> pending_;  // entries that returned Outcome::later
    const Op* current_ = nullptr;

    // Waiting.
    std::uint64_t idle_since_ = 0;  // ticks; 0: it is not idle
    std::uint64_t spin_ticks_ = 0, poll_ticks_ = 0, polled_ = 0;
    int yields_ = 0, sleeps_ = 0;
    const Flag* blocked_ = nullptr;
    Epoch seen_ = 0;

    // Counters of this batch.
    std::uint64_t done_ = 0, stolen_ = 0, waited_ = 0;
    std::uint64_t gap_from_ = 0, gaps_ = 0, gap_ticks_ = 0, interrupted_ = 0;
    std::uint32_t until_gap_ = 1;

    SplitMix64 dice_;
    const bool shuffled_;
    const bool plain_;  // nothing is measured, recorded or shuffled
};

inline void Thread::advance() {
    ++head_;
    held_ = 0;
    if (many_)
        shared_.positions[static_cast<std::size_t>(thread_)]->head.store(head_, std::memory_order_relaxed);
}

template <class Ready>
void Thread::idle(Ready ready) {
    yields_ = sleeps_ = 0;
    for (unsigned pass = 0;; ++pass) {
        if (idle_since_ == 0) {
            idle_since_ = ticks();
            yields_ = sleeps_ = 0;
            pass = 0;
        }
        blocked_ = nullptr;
        if (ready(pass)) break;
        idle_step(pass);
    }
    if (idle_since_ != 0) before(ticks());
}

}  // namespace strata::graph::detail
