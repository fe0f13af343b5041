#include "core/launch/process_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <set>
#include <thread>

#include "core/base/error.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/signal_process.hpp"

namespace strata::launch {

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

void end_with_parent(int parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(128 + SIGKILL);
}

void close_input() {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0) return;
    dup2(nothing, STDIN_FILENO);
    close(nothing);
}

Started start_process(const int report[2], const std::function<int()>& enter) {
    const int parent = getpid();
    Started started;
    started.pid = fork();
    if (started.pid == 0) {
        end_with_parent(parent);
        const int why = enter();
        [[maybe_unused]] const ssize_t n = write(report[1], &why, sizeof why);
        _exit(kNotFound);
    }
    if (started.pid < 0) started.error = errno;
    close(report[1]);
    // The write end closes when the program starts; what arrives before is why it did not.
    int why = 0;
    if (started.pid > 0 && read(report[0], &why, sizeof why) == sizeof why) started.error = why;
    close(report[0]);
    return started;
}

std::vector<Ended> collect_ended() {
    std::vector<Ended> ended;
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) ended.push_back({pid, status});
    return ended;
}

int exit_status(int status) { return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status); }

void stop_with_descendants() {
    const std::vector<int> all = machine::descendants_of(getpid());
    for (const int pid : all) machine::signal_descendant(pid, SIGSTOP, getpid());
    kill(getpid(), SIGSTOP);
    for (const int pid : all) machine::signal_descendant(pid, SIGCONT, getpid());
}

std::vector<int> end_all_descendants(double patience_s, int spared) {
    using Clock = std::chrono::steady_clock;
    const auto give_up = Clock::now() + std::chrono::duration<double>(patience_s);
    auto pause = std::chrono::microseconds(200);
    while (true) {
        collect_ended();
        int status = 0;
        if (waitpid(-1, &status, WNOHANG) < 0 && errno == ECHILD) return {};
        std::set<int> stopped;
        for (bool grew = true; grew;) {
            grew = false;
            for (const int pid : machine::descendants_of(getpid())) {
                if (pid == spared || !stopped.insert(pid).second) continue;
                machine::signal_descendant(pid, SIGSTOP, getpid());
                grew = true;
            }
        }
        if (spared != 0 && stopped.empty()) return {};
        for (const int pid : stopped) machine::signal_descendant(pid, SIGKILL, getpid());
        if (Clock::now() > give_up) {
            collect_ended();
            return machine::descendants_of(getpid());
        }
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(20));
    }
}

void end_process_tree(int spared) {
    for (const int pid : end_all_descendants(10, spared))
        fmt::print(stderr,
                   "strata: note: process {} has been killed but the kernel does not let it end yet\n", pid);
}

}  // namespace strata::launch
