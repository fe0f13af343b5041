// Runs a Program, step after step, in the threads of this process.
//
//   Executor executor(program, {.patience = team.patience()}, &team.crew());
//   Batch batch = executor.run(100);
//
// Each thread goes through its own operations in their order. Where the next one cannot start yet the thread
// looks ahead in its list, then takes operations over from other threads, those of its own domain first.
// There is no barrier between blocks or steps. A thread waits only for the flags of its operations, and at
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
    /// How long a thread without a ready operation spins before it yields and sleeps; and the failure that
    /// ends its wait.
    team::Patience patience{};
    /// [thread] -> its locality domain; empty: all in one.
    std::vector<int> domains = {};
    /// The thread that may call MPI: 0 is the caller of run().
    int speaker = 0;
    /// Called by that thread between operations and while it waits, at about this interval (seconds). Empty:
    /// no call.
    std::function<void()> progress = {};
    double progress_interval = 20e-6;
    /// The number of latest operations that each thread records; 0: none.
    std::size_t records = 0;
    /// Measures each operation; null: none.
    Meter* meter = nullptr;
    /// The number of operations that a thread looks ahead in its list; a thread that waits long looks
    /// further.
    std::uint32_t look_ahead = 64;
    /// The number of sleeping threads, in memory shared by all processes that take part in the program (zero
    /// at first). Null: there are no other processes.
    std::atomic<std::uint32_t>* sleepers = nullptr;
    Shuffle shuffle{};
    /// [scope] -> rounds done before, by another program that this one replaces; empty: none. The flags must
    /// have the same counts.
    std::vector<Epoch> counts = {};
};

/// The counters of one thread for a batch of steps. The times add up to the thread's time for the batch.
struct Usage {
    std::uint64_t operations = 0;  // finished by this thread
    std::uint64_t stolen = 0;      // of these, from other threads' lists
    double tasks = 0;              // seconds in operations
    double waiting = 0;            // seconds without a ready operation
    /// Seconds between one operation and the next without a wait. Extrapolated from about one in sixty, so
    /// that the measurement costs nothing.
    double runtime = 0;
};

struct Batch {
    std::uint32_t steps = 0;
    double seconds = 0;
    std::vector<Usage> threads;
};

/// The threads are those of a crew, bound to their places. Without a crew each batch starts as many threads
/// as the program has lists. Where the crew has another number of threads than the program was made for,
/// lists are merged or threads without a list help the others.
class Executor {
  public:
    /// Puts the waits of each operation in the order in which they are asked for. Otherwise the program must
    /// not change while the executor lives, nor have another one. Throws Error where it cannot be executed:
    /// an operation in two lists, a missing flag, MPI in the wrong thread.
    explicit Executor(Program& program, ExecutorOptions options = {}, team::Crew* crew = nullptr);
    ~Executor();
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    /// Runs `steps` steps, or fewer: after each, `go_on` is asked, if it has a function.
    ///
    /// An exception in an operation ends the batch in all threads of this process and is thrown here. An
    /// Error gets the operation's name and patch before its message; any other exception becomes an Error of
    /// that form. Throws team::MemberLost when the patience's failure is set. After either, the executor
    /// cannot run any more.
    Batch run(std::uint32_t steps, const Decision& go_on = {});

    /// The latest operations of a thread, the oldest first. Between batches only.
    [[nodiscard]] std::vector<Record> records(int thread) const;
    /// The number of threads in the last batch; at first the number that the program was made for.
    [[nodiscard]] int threads() const;
    /// The number of rounds of a scope that were begun so far.
    [[nodiscard]] Epoch epoch(std::uint16_t scope = 0) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace strata::graph
