// A timeline that ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <filesystem>
#include <span>

#include "core/run/profile/record.hpp"

namespace strata::graph {

/// Writes the events of one process into its part of the timeline, `folder`/.trace-0003.part. Each process
/// writes its own, at the same time as others. `origin_ns` is the time, by the clock of process 0, that the
/// timeline calls 0. Throws Error where it cannot be written.
void write_trace_part(const std::filesystem::path& folder, const ProcessRecords& records,
                      std::int64_t origin_ns);

/// Joins the parts of `processes` processes to `folder`/trace.json, which appears complete or not at all, and
/// removes them. The form is the JSON Object Format of Google's Trace Event Format: complete events ("X",
/// times in microseconds), counters ("C"), and names of processes and threads ("M").
void join_trace_parts(const std::filesystem::path& folder, int processes);

/// Writes and joins all parts, for records that are all in this process.
void write_trace(const std::filesystem::path& folder, std::span<const ProcessRecords> processes);

}  // namespace strata::graph
