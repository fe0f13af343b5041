#pragma once

#include <span>

#include "benchmarks/common/group.hpp"
#include "benchmarks/common/result.hpp"
#include "benchmarks/elsewhere.hpp"
#include "core/base/options.hpp"

namespace strata::bench {

/// Breaks a kernel on purpose, so that tests can show that verification sees it: the kernel does nothing, or
/// its output is perturbed a little.
enum class Break { none, skip, perturb };

/// One benchmark: what it is called, which options it takes beside --json and --break, and how it runs.
struct Benchmark {
    const char* name;
    const char* summary;
    void (*declare)(Options& options);
    Result (*run)(Group& group, const Parsed& given, Break fault);
};

/// The benchmarks of one process, and those that exchange messages.
[[nodiscard]] std::span<const Benchmark> local_benchmarks();
[[nodiscard]] std::span<const Benchmark> message_benchmarks();

/// The threads a benchmark will use: what OMP_NUM_THREADS and the process's CPUs give.
[[nodiscard]] int thread_count();

/// Reads the words, runs the named benchmark, prints it on the first process, writes --json, and returns the
/// status: 0, 1 when it did not verify. Those `elsewhere` are in another program: listed, and refused by
/// name.
int run_named(int argc, char** argv, Group& group, std::span<const std::span<const Benchmark>> known,
              std::span<const Named> elsewhere = {});

/// run_named with errors printed once, by the first process; for main().
int run_and_report(int argc, char** argv, Group& group, std::span<const std::span<const Benchmark>> known,
                   std::span<const Named> elsewhere = {});

}  // namespace strata::bench
