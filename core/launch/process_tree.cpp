#include "core/launch/process_tree.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <set>
#include <thread>

#include "core/machine/proc.hpp"

namespace strata::launch {

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<Ended> collect_ended() {
    std::vector<Ended> ended;
    int status = 0;
    for (pid_t pid = 0; (pid = waitpid(-1, &status, WNOHANG)) > 0;) ended.push_back({pid, status});
    return ended;
}

std::vector<int> end_all_descendants(double patience_s) {
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
                if (!stopped.insert(pid).second) continue;
                kill(pid, SIGSTOP);
                grew = true;
            }
        }
        for (const int pid : stopped) kill(pid, SIGKILL);
        if (Clock::now() > give_up) {
            collect_ended();
            return machine::descendants_of(getpid());
        }
        std::this_thread::sleep_for(pause);
        pause = std::min<std::chrono::microseconds>(pause * 2, std::chrono::milliseconds(20));
    }
}

}  // namespace strata::launch
