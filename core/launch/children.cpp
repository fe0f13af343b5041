#include "core/launch/children.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
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
int Children::enter(const Process& process, const Entry& entry, int supervisor) {
    setsid();
    // Dies with its supervisor, even one that is killed by SIGKILL.
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != supervisor) _exit(128 + SIGKILL);
    if (!entry.groups.join()) return errno;
    entry.share.join();
    // A full memory is no concern of other programs: those that were held to it go first (oom_score_adj(5)).
    if (entry.first_to_go) machine::write_file("/proc/self/oom_score_adj", "1000");
    if (!bind_to(process.pus) || !hold_memory(process.memory)) return errno;
    if (!process.reads_input) {
        const int nothing = open("/dev/null", O_RDONLY);
        if (nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
            close(nothing);
        }
    }
    entry.signals.restore();
    return become(process.path, process.arguments, process.environment);
}

Children::Children(const Job& job, const RunGroups& groups, const OwnShare& share,
                   const SignalEvents& signals) {
    const Entry entry{groups, share, signals, job.limits.any() && !job.limits.memories.empty()};
    for (const Process& process : job.processes) start(process, entry);
}

void Children::start(const Process& process, const Entry& entry) {
    // The write end closes when the program starts; what arrives before is why it did not.
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) throw system_error("a pipe cannot be made", errno);
    const int supervisor = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        const int why = enter(process, entry, supervisor);
        [[maybe_unused]] const ssize_t n = write(report[1], &why, sizeof why);
        _exit(kNotFound);
    }
    const int fork_failed = errno;
    close(report[1]);
    int why = 0;
    const ssize_t n = pid > 0 ? read(report[0], &why, sizeof why) : 0;
    close(report[0]);
    if (pid < 0 || n == sizeof why) {
        end_all_descendants();
        if (pid < 0) throw system_error("a process cannot be started", fork_failed);
        refuse_start(process.path, why);
    }
    pids_.push_back(pid);
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
