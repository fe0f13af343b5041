#include "core/launch/children.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/process_tree.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

/// In the new process: everything up to becoming the program; returns errno when that fails.
int Children::enter(const Process& process, const Entry& entry) {
    setsid();
    if (!entry.groups.join()) return errno;
    entry.share.join();
    // A full memory is no concern of other programs: those that were held to it go first (oom_score_adj(5)).
    if (entry.first_to_go) machine::write_file("/proc/self/oom_score_adj", "1000");
    if (!bind_to(process.pus) || !hold_memory(process.memory)) return errno;
    if (!process.reads_input) close_input();
    entry.signals.restore();
    return become(process.path, process.arguments, process.environment);
}

Children::Children(const Job& job, const RunGroups& groups, const OwnShare& share,
                   const SignalEvents& signals) {
    const Entry entry{groups, share, signals, job.limits.any() && !job.limits.memories.empty()};
    for (const Process& process : job.processes) start(process, entry);
}

void Children::start(const Process& process, const Entry& entry) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) throw system_error("a pipe cannot be made", errno);
    const Started started = start_process(report, [&] { return enter(process, entry); });
    if (started.error != 0) {
        end_all_descendants();
        if (started.pid < 0) throw system_error("a process cannot be started", started.error);
        refuse_start(process.path, started.error);
    }
    pids_.push_back(started.pid);
    ++running_;
}

bool Children::ended(int pid, int status) {
    const auto at = std::find(pids_.begin(), pids_.end(), pid);
    if (at == pids_.end()) return false;
    *at = 0;
    --running_;
    if (status != 0 && !failed_) failed_ = status;
    return true;
}

void Children::signal(int number) const {
    for (const int pid : pids_)
        if (pid != 0) kill(-pid, number);
}

}  // namespace strata::launch
