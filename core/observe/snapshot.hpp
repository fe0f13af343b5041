// A process and its threads at one moment.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine/numa_maps.hpp"

namespace strata::observe {

struct Thread {
    int tid = 0;
    std::string name;
    std::vector<int> allowed;  // PUs, by the system's numbers
    int cpu = -1;              // on which it runs, or ran last
    double cpu_s = 0;
    std::optional<long> migrations;       // since its start; none where the kernel does not count them
    long voluntary = 0, involuntary = 0;  // switches
};

struct Process {
    int pid = 0, parent = 0;
    std::string program;  // the file that runs; for kernel threads the thread's name
    std::vector<std::string> command;
    std::optional<int> rank;  // from a launcher: STRATA_RANK, or an MPI's own variable
    std::vector<Thread> threads;
    std::vector<machine::Region> regions;
    bool pages_read = false;
    double share_read = 1;  // of the address space; below 1 where only a sample was read
    std::string why;        // the reason why its pages could not be read
    bool ended = false;     // seen just before its end

    [[nodiscard]] double cpu_s() const;
};

enum class Method { numa_maps, move_pages };

/// One thread; none when it has ended.
std::optional<Thread> read_thread(int pid, int tid);

/// A process with its threads and pages; none when it has ended. Costs a walk over its page tables, some 10
/// ms per GiB; with move_pages at most `most_pages` pages are read.
std::optional<Process> read_process(int pid, Method method = Method::numa_maps,
                                    std::uint64_t most_pages = 1 << 18);

/// Whether the process is a launcher and not the launched program: mpirun and its helpers, srun, a shell,
/// Strata.
bool is_launcher(const Process& process);

/// Adds to `newer` each thread of `older` that it lacks, to keep the data of threads that have ended.
void keep_threads(Process& newer, const Process& older);

}  // namespace strata::observe
