// What the threads of one process share while they execute a program.
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

/// Whether a count has reached another; both go round.
[[nodiscard]] inline bool reached(Epoch have, Epoch need) {
    return static_cast<std::int32_t>(have - need) >= 0;
}

/// So many words keep what follows an array of words off its lines.
inline constexpr std::size_t kGap = team::kApart / sizeof(Epoch);

/// Where a thread is, for those that want to take over its operations. They read a block and the counts that
/// belong together: `turn` is odd while they change. What they then take is decided by the operations'
/// claims, so that a place that is out of date does no harm.
struct ThreadPosition {
    explicit ThreadPosition(std::size_t scopes) : counts(scopes + kGap) {}
    alignas(team::kApart) std::atomic<std::uint32_t> changes{0};
    std::atomic<std::int32_t> block{-1};
    std::atomic<std::uint32_t> head{0};  // all operations of its list before this one have been taken
    std::vector<std::atomic<Epoch>> counts;
    alignas(team::kApart) char end = 0;  // nothing else on its lines
};

/// A loop of a moldable operation, that others may join. One for each thread.
struct SharedLoop {
    static constexpr std::uint32_t kOpen = 0x80000000U;
    alignas(team::kApart) std::atomic<std::uint32_t> state{0};  // kOpen, and how many have joined
    std::atomic<std::uint32_t> most{0};                         // may join
    void (*part)(void* held, std::int64_t first, std::int64_t last, int thread) = nullptr;
    void* held = nullptr;
    std::int64_t end = 0, grain = 1;
    std::uint32_t op = 0, step = 0;
    alignas(team::kApart) std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr thrown;
};

/// Answers of one decision, by round. So many rounds may one thread be ahead of another.
struct Answers {
    static constexpr std::uint64_t kRounds = 64;
    enum : std::uint64_t { kAsking = 1, kNo = 2, kYes = 3 };
    alignas(team::kApart) std::array<std::atomic<std::uint64_t>, kRounds> log{};  // round * 4 + one of these
};

/// How often a thread has asked each decision; on lines of its own.
struct Asked {
    explicit Asked(std::size_t decisions) : rounds(decisions + kGap) {}
    std::vector<std::atomic<std::uint64_t>> rounds;  // [decision]
};

struct Shared {
    Shared(const Program& program, const ExecutorOptions& options, int threads);

    const Program& program;
    const ExecutorOptions& options;
    ThreadProgram plan;
    std::vector<std::unique_ptr<ThreadPosition>> positions;  // [thread]
    std::vector<std::unique_ptr<SharedLoop>> loops;          // [thread]
    std::vector<std::unique_ptr<Asked>> asked;      // [thread]; the last decision is whether to go on
    std::vector<std::unique_ptr<Answers>> answers;  // [decision]
    std::vector<std::unique_ptr<Ring>> rings;       // [thread], where operations are recorded
    std::vector<Epoch> counts;                      // [scope], between batches
    std::vector<Usage> usage;                       // [thread]
    TickRate rate;
    std::uint32_t steps = 0;

    // Looked at after every operation, so nothing that often changes lies near.
    static constexpr std::uint32_t kEnded = 0x80000000U;
    alignas(team::kApart) std::atomic<std::uint32_t> attention{0};  // kEnded, and how many loops are open
    alignas(team::kApart) std::atomic<std::uint32_t> own_sleepers{0};
    alignas(team::kApart) Flag finished{0};  // threads that have come to the end of the batch

    /// Keeps the first exception and ends the batch.
    void fail(std::exception_ptr exception);
    [[nodiscard]] std::exception_ptr failed();

  private:
    std::mutex mutex_;
    std::exception_ptr thrown_;
};

/// Thrown within a thread to leave a batch that somebody else ended.
struct Ended {};

}  // namespace strata::graph::detail
