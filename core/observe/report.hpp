// Processes with their threads and pages, as a table for people and as JSON for scripts.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/observe/snapshot.hpp"

namespace strata::observe {

struct TableOptions {
    bool all = false;       // launchers too
    bool threads = false;   // a row for each thread, also of many processes
    bool pages = false;     // pages by kind, also of many processes
    std::size_t most = 64;  // processes; the busiest are kept
};

/// Figures of a process that follow from what was read.
struct PlacementSummary {
    std::vector<int> cpus;     // its threads run or ran last on
    std::vector<int> domains;  // of those CPUs
    machine::ByMemory pages;
    std::uint64_t local = 0;  // bytes in memories of those domains
    std::optional<long> migrations;
    int sharing = 0;  // threads whose only allowed PU is another thread's too
};
PlacementSummary placement_summary(const Process& process, const machine::Machine& machine);

/// A table: a line a process, then threads and pages where there is room for them.
std::string table(const std::vector<Process>& processes, const machine::Machine& machine,
                  const TableOptions& show);

/// The document strata.where/1.
void where_json(std::ostream& out, const std::vector<Process>& processes, const machine::Machine& machine);

}  // namespace strata::observe
