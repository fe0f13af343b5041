// Data that the threads of one process share while they execute a program.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "core/graph/execute/executor.hpp"
#include "core/graph/execute/record.hpp"
#include "core/graph/execute/thread_program.hpp"
#include "core/graph/execute/ticks.hpp"
#include "core/team/failure.hpp"

namespace strata::graph::detail {

/// Whether a count has reached another. Both may wrap around past the largest number.
[[nodiscard]] inline bool reached(Epoch have, Epoch need) {
    return static_cast<std::int32_t>(have - need) >= 0;
}

/// So many entries after an array keep other data off its cache lines.
template <class T>
inline constexpr std::size_t kGap = team::kApart / sizeof(T);

/// The position of a thread, for other threads that look for operations to take over. A reader needs a block
/// and the counts that belong to it: `changes` is odd while they are written, and a reader that finds it
/// changed tries again later. An operation is then taken by its claim, so an outdated position does no harm.
struct ThreadPosition {
    explicit ThreadPosition(std::size_t scopes) : counts(scopes + kGap<Epoch>) {}
    alignas(team::kApart) std::atomic<std::uint32_t> changes{0};
    std::atomic<std::int32_t> block{-1};
    std::atomic<std::uint32_t> head{0};  // all operations of its list before this one have been taken
    std::vector<std::atomic<Epoch>> counts;
};

/// A loop of a moldable operation; other threads may join it. One for each thread.
struct SharedLoop {
    static constexpr std::uint32_t kOpen = 0x80000000U;
    alignas(team::kApart) std::atomic<std::uint32_t> state{0};  // kOpen + the number that joined
    std::atomic<std::uint32_t> most{0};                         // number that may join
    void (*part)(void* held, std::int64_t first, std::int64_t last, int thread) = nullptr;
    void* held = nullptr;
    std::int64_t end = 0, grain = 1;
    std::uint32_t op = 0, step = 0;
    alignas(team::kApart) std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr thrown;
};

/// The answers of one decision, by round. A thread may be at most kRounds rounds ahead of another.
struct Answers {
    static constexpr std::uint64_t kRounds = 16;
    enum : std::uint64_t { kAsking = 1, kNo = 2, kYes = 3 };
    alignas(team::kApart) std::array<std::atomic<std::uint64_t>, kRounds> log{};  // round * 4 + one of these
};

/// The number of times that a thread asked each decision; on cache lines of its own.
struct Asked {
    explicit Asked(std::size_t decisions) : rounds(decisions + kGap<std::uint64_t>) {}
    std::vector<std::atomic<std::uint64_t>> rounds;  // [decision]
};

struct Shared {
    Shared(Program& program, const ExecutorOptions& options, int threads);

    const Program& program;
    const ExecutorOptions& options;
    ThreadProgram plan;
    // What threads tell each other: empty where there is one alone.
    std::vector<std::unique_ptr<ThreadPosition>> positions;  // [thread]
    std::vector<std::unique_ptr<SharedLoop>> loops;  // [thread]; empty also where no operation is moldable
    std::vector<Asked> asked;                        // [thread]; the last decision is Executor::run's go_on
    std::vector<std::unique_ptr<Answers>> answers;   // [decision]
    std::vector<std::unique_ptr<Ring>> rings;        // [thread]; empty: nothing is recorded
    std::vector<Epoch> counts;                       // [scope], between batches
    std::vector<Usage> usage;                        // [thread]
    TickRate rate;
    std::uint32_t steps = 0;

    // Read after every operation, so no data that changes often may share its cache line.
    static constexpr std::uint32_t kEnded = 0x80000000U;
    alignas(team::kApart) std::atomic<std::uint32_t> attention{0};  // kEnded + the number of open loops
    std::atomic<std::uint32_t> own_sleepers{0};
    Flag finished{0};  // number of threads at the end of the batch

    /// Keeps the first exception and ends the batch.
    void fail(std::exception_ptr exception);
    [[nodiscard]] std::exception_ptr failed();

  private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

/// Thrown within a thread to leave a batch that another thread ended.
struct Ended {};

}  // namespace strata::graph::detail
