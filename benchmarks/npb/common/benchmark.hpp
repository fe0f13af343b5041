// What a benchmark of the suite is: a plan that says what it needs before anything is allocated, and a run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/npb/common/classes.hpp"
#include "benchmarks/npb/common/group.hpp"

namespace strata::npb {

using bench::Break;

/// An array, or some of one kind, and its bytes in each process that exchanges messages (a team's: in all).
struct Need {
    std::string what;
    std::uint64_t bytes = 0;
};

struct Plan {
    std::string size;  // as the familiar form prints it: "256x 256x 256"
    int iterations = 0;
    std::string division;  // how the problem is cut for message passing
    std::vector<Need> needs;

    [[nodiscard]] std::uint64_t bytes() const {
        std::uint64_t total = 0;
        for (const Need& need : needs) total += need.bytes;
        return total;
    }
};

/// One official value: the run counts only when every error is at most its limit. NaN does not pass.
struct Check {
    std::string what;
    double found = 0, expected = 0;
    double error = 0, limit = 0;
    [[nodiscard]] bool passed() const { return error <= limit; }
};

/// |found - expected| / |expected|, at most `limit`.
[[nodiscard]] Check relative(std::string what, double found, double expected, double limit);

struct Outcome {
    double seconds = 0;     // of the timed part, the slowest process's
    double operations = 0;  // by the official count
    std::string operation_type = "floating point";
    std::vector<Check> checks;
    /// What the timed part moves between the processors and the level that holds the working set, counted
    /// from the loops as they are written; 0 where that says nothing.
    double bytes = 0;
    /// What it must move at least: each array once for each sweep that dependences force, whatever the loops;
    /// 0 where nobody has counted it.
    double compulsory_bytes = 0;
    std::vector<std::string> lines;  // further results, printed before the table
    std::vector<Figure> figures;     // and those for the document
};

struct Benchmark {
    const char* name;
    const char* title;
    /// For so many processes of message passing. Throws Error where the problem cannot be cut so.
    Plan (*plan)(Class size, int processes, int workers);
    /// `progress` counts the iterations.
    Outcome (*run)(Class size, Group& group, Break fault);
    /// The plan's division in words where it depends on the layout under every model. `moved`: threads may go
    /// from process to process. Throws Error where the problem cannot be divided so.
    std::string (*division)(Class size, int processes, int threads, bool moved) = nullptr;
};

/// All that were built, in the order of the specification.
[[nodiscard]] std::span<const Benchmark> benchmarks();

/// Those over zones, in the order of their specification.
[[nodiscard]] std::span<const Benchmark> zone_benchmarks();

/// What main() of each program does with its group: reads the words, plans or runs, prints, returns the
/// status. `list`: the benchmarks that the program has.
int run_suite(int argc, char** argv, Group& group, std::span<const Benchmark> list = benchmarks());

/// Throws Error unless `processes` is a power of two, as the divisions of this suite need.
int power_of_two(int processes);

}  // namespace strata::npb
