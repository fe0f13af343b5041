// A command run to its end, with a snapshot of each of its processes just before it goes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/observe/snapshot.hpp"

namespace strata::observe {

struct TraceRequest {
    std::vector<std::string> command;
    std::string path;                 // the file that the command names
    double after_s = 0, every_s = 0;  // readings while it runs; 0: none
    Method method = Method::numa_maps;
};

struct TraceResult {
    int status = 0;                  // of the command, as of waitpid
    std::vector<Process> processes;  // as they were at their end, in the order of their numbers
    bool traced = true;              // else ptrace was refused, and these are the last readings taken
};

/// Runs the command. The kernel stops each thread on its way out (PTRACE_EVENT_EXIT, ptrace(2)) while its
/// address space is still there: what is read then is exact, also for runs of a millisecond. Where tracing is
/// refused, processes are read every 50 ms instead. `reading` gets the readings that were requested while it
/// runs. Interrupts go to the command; it dies with this process. Throws Error when it cannot be started.
TraceResult trace(const TraceRequest& request,
                  const std::function<void(const std::vector<Process>&)>& reading);

}  // namespace strata::observe
