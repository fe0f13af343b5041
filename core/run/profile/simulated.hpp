// Counts on machines that offer no counters: the program runs under callgrind, which counts instructions and
// simulates two levels of cache (https://valgrind.org/docs/manual/cl-manual.html).
//
// Each kind and name of operations runs through a function of its own that does nothing else
// (simulated_operation<N>). In callgrind's call graph the inclusive cost of that function is the task's,
// exactly, thread by thread: client requests alone (ZERO_STATS, DUMP_STATS, TOGGLE_COLLECT) act on all
// threads at once, and would mix up tasks that run at the same time. They mark the beginning and the end of
// what is counted.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/run/profile/counting.hpp"

namespace strata::graph {

/// Holds the descriptor of callgrind's output, and what is to be said of the caches, in a program's
/// environment.
inline constexpr const char* kSimulatedVariable = "STRATA_SIMULATED";

/// Throws Error where this process does not run under callgrind, see start_simulation().
[[nodiscard]] std::unique_ptr<Counting> make_simulated_counting();

/// Whether this process runs under valgrind.
[[nodiscard]] bool is_simulated();

/// Throws Error where programs cannot be simulated: this build cannot, valgrind is not there, or this program
/// has instructions that valgrind does not know (`simulable` is false) and there is no other one of it,
/// called PROGRAM-simulated, beside it.
void check_simulation(bool simulable);

/// Becomes this program, or the other one of it, with the same arguments, under callgrind with this machine's
/// caches. Nothing is written: callgrind's output stays in memory. Throws Error.
[[noreturn]] void start_simulation(bool simulable, const std::vector<std::string>& arguments);

/// Callgrind's output, as far as it is wanted here.
struct CallgrindOutput {
    struct Cost {
        std::int64_t calls = 0;
        std::vector<double> events;  // [event], inclusive
    };
    std::string creator;                 // "callgrind-3.19.0"
    std::vector<std::string> caches;     // "I1 cache: 32768 B, 64 B, 8-way associative"
    std::vector<std::string> events;     // "Ir", "Dr", ...
    std::map<std::string, Cost> called;  // all calls of the functions whose names have `marker` in them
};
/// Throws Error where it is not callgrind's.
[[nodiscard]] CallgrindOutput read_callgrind(const std::string& text, const std::string& marker);

}  // namespace strata::graph
