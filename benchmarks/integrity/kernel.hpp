// A kernel whose right answer is known. It computes from a seed and writes digests of all that it computed to
// a trace; its reference finds the same digests in another way, with other units of the processor or by
// another algorithm. Kernels are plain functions on spans: they allocate nothing and know nothing of options,
// processes and other kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/integrity/trace.hpp"

namespace strata::integrity {

/// Two cores' common ground: cache lines in shared memory, which both have to themselves during a round.
struct Ground;

struct Round {
    std::uint64_t seed = 0;
    /// Room to compute in, aligned to a page; what it held before is of no account.
    std::span<std::byte> scratch;
    /// The memory under test (memory kernels alone).
    std::span<std::byte> block;
    /// Pair kernels alone: both sides compute, each a trace of its own.
    Ground* ground = nullptr;
    int side = 0;
    /// Set from outside: this round must end soon, and will not count.
    const std::atomic<std::uint32_t>* abandon = nullptr;

    [[nodiscard]] bool abandoned() const {
        return abandon != nullptr && abandon->load(std::memory_order_relaxed) != 0;
    }
    template <class T>
    [[nodiscard]] std::span<T> room() const {
        return {reinterpret_cast<T*>(scratch.data()), scratch.size() / sizeof(T)};
    }
};

/// What a kernel needs beside its core.
enum class Use {
    core,    // nothing: its data stay in the core's own caches
    memory,  // bandwidth of memory: runs only while nobody else does
    pair,    // a second core at the same time
};

struct Kernel {
    const char* name;
    const char* what;  // what it exercises
    const char* unit;  // of its work
    Use use;
    std::size_t scratch_bytes;
    /// Why it cannot run here; empty where it can.
    std::string (*missing)();
    /// False where the round was abandoned.
    bool (*run)(const Round& round, Trace& trace);
    bool (*reference)(const Round& round, Trace& trace);
    /// What a step of the trace is: "lane 3", "row 17".
    std::string (*step)(int step);
};

/// All kernels, in the order in which a worker runs them.
[[nodiscard]] const std::vector<Kernel>& kernels();

/// A kernel for which nothing must be there.
[[nodiscard]] inline std::string nothing_missing() { return ""; }

}  // namespace strata::integrity
