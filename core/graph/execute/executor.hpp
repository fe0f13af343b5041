// Runs a Program, step after step, in the threads of this process.
//
//   Executor executor(program, {.patience = team.patience()}, &team.crew());
//   Batch batch = executor.run(100);
//
// Each thread goes through its own operations in their order. Where the next one cannot start yet the thread
// looks ahead in its list, then takes operations over from other threads, those of its own domain first.
// There is no barrier between blocks or steps; a thread waits only for what its operations wait for, and at
// the end of a batch for the other threads of its process.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/graph/execute/meter.hpp"
#include "core/graph/execute/program.hpp"
#include "core/graph/execute/random.hpp"
#include "core/graph/execute/record.hpp"
#include "core/team/crew.hpp"
#include "core/team/waiting.hpp"

namespace strata::graph {

struct ExecutorOptions {
    /// How long a thread that has nothing to run looks before it gives way and sleeps, and what ends its
    /// wait.
    team::Patience patience{};
    /// [thread] -> its locality domain; empty: all in one.
    std::vector<int> domains = {};
    /// The thread that may speak MPI: 0 is the one that calls run().
    int speaker = 0;
    /// Called by that thread between operations and while it waits, about so often (seconds); empty: not.
    std::function<void()> progress = {};
    double progress_interval = 20e-6;
    /// How many of its latest operations each thread remembers; 0: none.
    std::size_t records = 0;
    /// Stands around each operation; null: none.
    Meter* meter = nullptr;
    /// How far a thread looks ahead in its list while it has not waited long.
    std::uint32_t look_ahead = 64;
    /// How many threads sleep, in memory that all processes with a share in the program see (zero at first);
    /// null: there are no others.
    std::atomic<std::uint32_t>* sleepers = nullptr;
    Shuffle shuffle{};
    /// [scope] -> rounds that were done before, by another program whose place this one takes; empty: none.
    /// The flags must say the same.
    std::vector<Epoch> counts = {};
};

/// What one thread did in a batch of steps. The times add up to how long the batch took it.
struct Usage {
    std::uint64_t operations = 0;  // that it finished
    std::uint64_t stolen = 0;      // of them, from other threads' lists
    double tasks = 0;              // seconds in operations
    double waiting = 0;            // seconds in which it found nothing to run
    /// Seconds between one operation and the next where there was no wait: measured at one operation in some
    /// sixty, so that measuring costs nothing.
    double runtime = 0;
};

struct Batch {
    std::uint32_t steps = 0;
    double seconds = 0;
    std::vector<Usage> threads;
};

/// The threads are those of a crew, bound to their places, or, without one, as many as the program has lists,
/// started for each batch. Where the crew has another number of threads than the program was made for, lists
/// are merged or threads help the others.
class Executor {
  public:
    /// The program must stay as it is for as long as the executor lives. Throws Error where it cannot be
    /// executed: an operation in two lists, a flag that is missing, MPI in the wrong thread.
    explicit Executor(const Program& program, ExecutorOptions options = {}, team::Crew* crew = nullptr);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Runs `steps` steps, or fewer: after each, `go_on` is asked, if it has a function.
    ///
    /// An exception in an operation ends the batch in all threads of this process and is thrown here: an
    /// Error with the operation's name and patch before its message, anything else as an Error of that form.
    /// Throws team::MemberLost when the patience's failure is told. After either the executor runs nothing
    /// any more.
    Batch run(std::uint32_t steps, const Decision& go_on = {});

    /// What a thread did last, the oldest first. Between batches only.
    [[nodiscard]] std::vector<Record> records(int thread) const;
    /// In the batch before; at first as many as the program was made for.
    [[nodiscard]] int threads() const;
    /// How often a scope was begun so far.
    [[nodiscard]] Epoch epoch(std::uint16_t scope = 0) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace strata::graph
