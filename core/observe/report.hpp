// Processes with their threads and pages, as a table and as JSON.
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

/// Derived figures of a process.
struct PlacementSummary {
    std::vector<int> cpus;     // on which its threads run or ran last
    std::vector<int> domains;  // of those CPUs
    machine::ByMemory pages;
    std::uint64_t local = 0;  // bytes in memories of those domains
    std::optional<long> migrations;
    int sharing = 0;  // threads with a single allowed PU that another thread has as well
};
PlacementSummary placement_summary(const Process& process, const machine::Machine& machine);

/// A table: a line for each process, then threads and pages where there is room for them.
std::string table(const std::vector<Process>& processes, const machine::Machine& machine,
                  const TableOptions& show);

/// The document strata.where/1.
void where_json(std::ostream& out, const std::vector<Process>& processes, const machine::Machine& machine);

}  // namespace strata::observe
