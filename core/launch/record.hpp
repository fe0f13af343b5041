// The document strata.record/1: what happened to one launch (docs/formats.md).
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/launch/accounts.hpp"
#include "core/launch/layout.hpp"
#include "core/launch/node_readback.hpp"
#include "core/launch/own_share.hpp"
#include "core/launch/readback.hpp"

namespace strata {
class Json;
}

namespace strata::launch {

struct Record {
    std::vector<std::string> command;
    Placement placement;
    std::string started;  // UTC, ISO 8601
    double wall_s = 0;
    std::optional<int> exit_code, signal;
    bool timed_out = false;
    Share share;
    CpuUsage cpu;
    long voluntary_switches = 0, involuntary_switches = 0;
    std::optional<long> migrations;
    long minor_faults = 0, major_faults = 0, max_rss_bytes = 0;
    std::optional<std::int64_t> cpu_pressure_us, memory_pressure_us, io_pressure_us;
    std::optional<double> clock_before_ghz, clock_after_ghz;
    std::array<double, 3> load{};
    std::vector<ThreadReading> threads;
    PageReading pages;
    std::set<std::string> libraries;
    int readings = 0, computing_at_once = 0;
    std::vector<NodeReading> nodes;          // other ones, where ranks were read back too
    std::optional<bool> threads_agree_here;  // on the launcher's own node
    std::optional<bool> threads_agree;
    std::optional<bool> agrees;  // threads and pages
    std::optional<std::string> disagreement;
    std::vector<std::string> limits;      // how limits were held, one line each
    std::optional<std::string> exceeded;  // what was said when one was hit
    std::vector<std::string> left_over;   // what this launch removed of dead predecessors
};

/// Writes FILE.tmp and renames it, so that a record is whole or absent. Throws Error naming the file (disk
/// full, no such folder); nothing is left then.
void write_record(const Record& record, const std::string& path);

/// The member `threads` of a record.
void write_threads(Json& j, const std::vector<ThreadReading>& threads);

/// Now, as "2026-03-01T12:00:00.123Z".
std::string utc_now();

}  // namespace strata::launch
