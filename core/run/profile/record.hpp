// The records of one process: operations with their threads and times. The input of profiles and timelines.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/execute/program.hpp"

namespace strata::graph {

/// One operation that ran. Times are of CLOCK_MONOTONIC, in ns.
struct TimedOp {
    std::uint32_t name = 0;  // in ProcessRecords::names
    std::int32_t patch = -1;
    OpKind kind = OpKind::task;
    std::uint16_t thread = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
};

/// A quantity over time, shown above the timeline (ready operations, bytes on their way, ...).
struct CounterTrack {
    std::string name, unit;
    std::vector<std::pair<std::int64_t, double>> samples;  // ns, value
};

/// All records of one process over a stretch of time.
struct ProcessRecords {
    int process = 0;   // its number among all
    std::string host;  // "" where there is only one
    int threads = 1;
    std::int64_t begin_ns = 0, end_ns = 0;  // of the stretch; all records lie within
    /// To be added to this process's times to get times of process 0: each node has a clock of its own.
    std::int64_t clock_offset_ns = 0;
    std::vector<std::string> names;
    std::vector<TimedOp> records;
    std::vector<CounterTrack> counters;
};

/// "task", "copy", "send", ...
[[nodiscard]] const char* name_of(OpKind kind);

}  // namespace strata::graph
