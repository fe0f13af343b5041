// Counts on machines without available counters: the program runs under callgrind, which counts instructions
// and simulates two levels of cache (https://valgrind.org/docs/manual/cl-manual.html).
//
// Each kind and name of operations runs through a function of its own (simulated_operation<N>), which does
// nothing else. In callgrind's call graph the inclusive cost of that function is exactly the task's cost, for
// each thread. Client requests alone (ZERO_STATS, DUMP_STATS, TOGGLE_COLLECT) act on all threads at once, and
// would mix tasks that run at the same time. They only mark the beginning and the end of the counted stretch.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/run/profile/counting.hpp"

namespace strata::graph {

/// Environment variable with the descriptor of callgrind's output and the notes on caches.
inline constexpr const char* kSimulatedVariable = "STRATA_SIMULATED";

/// Throws Error where this process does not run under callgrind, see start_simulation().
[[nodiscard]] std::unique_ptr<Counting> make_simulated_counting();

/// Whether this process runs under valgrind.
[[nodiscard]] bool is_simulated();

/// Throws Error where programs cannot be simulated: by a build without support; without valgrind; or where
/// this program has instructions unknown to valgrind (`simulable` is false) and there is no program
/// PROGRAM-simulated beside it.
void check_simulation(bool simulable);

/// Replaces the process by this program, or by PROGRAM-simulated, with the same arguments, under callgrind
/// with this machine's caches. No file is written: callgrind's output stays in memory. Throws Error.
[[noreturn]] void start_simulation(bool simulable, const std::vector<std::string>& arguments);

/// The parts of callgrind's output that are used here.
struct CallgrindOutput {
    struct Cost {
        std::int64_t calls = 0;
        std::vector<double> events;  // [event], inclusive
    };
    std::string creator;                 // "callgrind-3.19.0"
    std::vector<std::string> caches;     // "I1 cache: 32768 B, 64 B, 8-way associative"
    std::vector<std::string> events;     // "Ir", "Dr", ...
    std::map<std::string, Cost> called;  // all calls of functions with `marker` in their names
};
/// Throws Error where the text is not callgrind's.
[[nodiscard]] CallgrindOutput read_callgrind(const std::string& text, const std::string& marker);

}  // namespace strata::graph
