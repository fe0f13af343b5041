// What the supervisor and its workers share: one mapping without a name, made before the workers are, so that
// nothing of it is left whatever ends them. Here the workers find known answers and orders; what they report
// goes through a pipe each.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "benchmarks/integrity/ground.hpp"
#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::uint32_t kMostKernels = 24;
/// Seeds that a kernel goes round before it gets others.
inline constexpr std::uint32_t kPool = 4;

/// The seed of a kernel's k-th round in an epoch.
[[nodiscard]] constexpr std::uint64_t round_seed(std::uint64_t seed, std::uint32_t kernel,
                                                 std::uint32_t epoch, std::uint32_t k) {
    return mixed(mixed(seed ^ mixed((std::uint64_t{kernel} << 32U) | epoch)) + k);
}

/// The right answer of one seed, held twice: a cell that flips here must not look like a wrong core, nor hide
/// one.
struct Answer {
    Trace one, two;
    std::uint64_t seed = 0;
    std::int32_t maker = -1;  // the worker that computed it
};

/// An answer as all workers see it. It changes only when its kernel gets other seeds.
struct Known {
    std::atomic<std::uint32_t> state{0};  // 0 nothing yet, 1 being written, 2 valid
    Answer answer;
};

enum class Doing : std::uint32_t { idle, round, reference };

/// An order to one worker: a round again, or its side of a round with another one.
struct Order {
    std::uint32_t id = 0;
    std::uint32_t kernel = 0;
    std::uint64_t seed = 0;
    std::int32_t partner = -1;  // pair kernels: the other worker
    std::int32_t side = 0;
    std::int32_t block_of = -1;  // memory kernels: whose memory to test
    bool again = false;          // against a reference of its own, not against the known answer
};

/// What one worker does, and what it shall do.
struct alignas(128) Desk {
    std::atomic<std::uint32_t> doing{0}, kernel{0}, abandon{0};
    std::atomic<std::uint64_t> seed{0};
    std::atomic<std::int64_t> began_cpu_ns{0};
    std::atomic<std::int32_t> block_user{-1};  // who tests this worker's memory: one at a time
    std::atomic<std::uint32_t> at_ground{0};   // the order whose partner it waits for
    std::atomic<std::uint32_t> ordered{0}, served{0};
    Order order;
    Ground ground;  // where this worker is the first of a pair
};

struct Shared {
    std::atomic<std::uint32_t> start{0};
    /// Whether memory kernels may run now.
    std::atomic<std::uint32_t> memory_allowed{0};
    /// Counts how often the memory under test was given back: what was written before is gone.
    std::atomic<std::uint32_t> memory_given_back{0};
    std::atomic<std::uint32_t> epoch[kMostKernels]{};
    /// CPU time of a kernel in this epoch, and of its references.
    std::atomic<std::uint64_t> round_ns[kMostKernels]{}, reference_ns[kMostKernels]{};
    Known known[kMostKernels][2][kPool][2];  // kernel, epoch modulo 2, seed, side
};

/// What a worker reports: small enough for the pipe to take it whole.
struct Report {
    enum class Kind : std::uint32_t { round, again, abandoned };
    Kind kind = Kind::round;
    std::uint32_t kernel = 0, epoch = 0, k = 0, order = 0;
    std::int32_t side = 0;
    std::int32_t maker = -1;
    bool wrong = false, answer_damaged = false;
    std::uint64_t seed = 0, round = 0, work = 0;
    std::uint64_t hash = 0, answer_hash = 0;
    double cpu_s = 0;
    Mismatch mismatch;
    std::uint64_t physical = 0;  // address of the word, where the system tells it
    std::int32_t partner = -1;   // pair kernels: the other worker
};
// Injectors of faults look at a worker's reports from outside: at their first 64 bytes.
static_assert(offsetof(Report, wrong) == 28 && offsetof(Report, seed) == 32 && offsetof(Report, hash) == 56);
static_assert(sizeof(Report) <= 512);  // POSIX: writes up to 512 bytes are never mixed

}  // namespace strata::integrity
