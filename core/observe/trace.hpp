// Runs a command to its end, with a snapshot of each of its processes just before the process ends.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/observe/snapshot.hpp"

namespace strata::observe {

struct TraceRequest {
    std::vector<std::string> command;
    std::string path;                 // the file of the command
    double after_s = 0, every_s = 0;  // snapshots while it runs; 0: none
    Method method = Method::numa_maps;
};

struct TraceResult {
    int status = 0;                  // of the command, as of waitpid
    std::vector<Process> processes;  // just before their end, in the order of their numbers
    bool traced = true;              // false: ptrace was refused, and these are the last readings
};

/// Runs the command. The kernel stops each thread just before its end (PTRACE_EVENT_EXIT, ptrace(2)) while
/// its address space still exists. So the snapshot is exact, also for runs of a millisecond. Where tracing is
/// refused, processes are read every 50 ms instead. `reading` gets the requested readings during the run.
/// Interrupts go to the command; it is killed when this process ends. Throws Error when it cannot be started.
TraceResult trace(const TraceRequest& request,
                  const std::function<void(const std::vector<Process>&)>& reading);

}  // namespace strata::observe
