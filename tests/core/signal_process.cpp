#include "core/machine/signal_process.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <functional>

#include "core/machine/proc.hpp"
#include "tests/catch.hpp"

using namespace strata::machine;

namespace {

pid_t sleeper() {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
}

bool runs(pid_t child) { return waitpid(child, nullptr, WNOHANG) == 0; }

void end(pid_t child) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
}

/// What a function gives where process numbers are this test's alone to give, or -1.
int among_own_numbers(const std::function<int()>& act) {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) _exit(100);
        const pid_t first = fork();
        if (first == 0) {
            if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                mount("proc", "/proc", "proc", 0, nullptr) != 0)
                _exit(100);
            _exit(act());
        }
        int status = 0;
        waitpid(first, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 101);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 100 ? -1 : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("a process is signalled if a second look finds it to be the one that is meant") {
    const pid_t child = sleeper();
    CHECK_FALSE(signal_process(child, SIGKILL, [] { return false; }));
    CHECK(runs(child));
    CHECK(signal_process(child, SIGKILL, [] { return true; }));
    CHECK(waitpid(child, nullptr, 0) == child);
    CHECK_FALSE(signal_process(child, SIGKILL, [] { return true; }));
}

TEST_CASE("who has got the number since the second look is not signalled") {
    constexpr int kSpared = 1, kEnded = 2, kAnotherNumber = 3;
    const int found = among_own_numbers([] {
        const pid_t meant = sleeper();
        pid_t other = 0;
        const bool sent = signal_process(meant, SIGKILL, [&] {
            end(meant);
            std::ofstream("/proc/sys/kernel/ns_last_pid") << meant - 1 << std::flush;
            other = sleeper();
            return true;
        });
        if (other != meant) return kAnotherNumber;
        return sent ? kEnded : kSpared;
    });
    if (found < 0) CANNOT_TRY("no numbers of processes of this test's own can be had here");
    CHECK(found == kSpared);
}

TEST_CASE("a descendant is signalled, be it a child's child, and nobody else is") {
    const pid_t stranger = sleeper(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleeper();
        for (;;) pause();
    }
    while (children_of(child).empty()) usleep(1000);
    const pid_t below = children_of(child).front();
    CHECK_FALSE(signal_descendant(stranger, SIGKILL, child));
    CHECK_FALSE(signal_descendant(getppid(), SIGKILL, getpid()));
    CHECK_FALSE(signal_descendant(child, SIGKILL, child));
    CHECK(runs(stranger));
    CHECK(signal_descendant(below, SIGSTOP, getpid()));
    CHECK(signal_descendant(below, SIGKILL, child));
    for (const pid_t each : {child, stranger}) end(each);
}
