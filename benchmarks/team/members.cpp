#include "benchmarks/team/members.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>

#include "benchmarks/common/threads.hpp"
#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/machine/machine.hpp"

namespace strata::bench::team_layer {
namespace {

std::vector<int> cores() {
    static const std::vector<int> pus =
        one_pu_a_core(machine::read_machine({"system", false, false}), process_pus());
    if (pus.empty()) throw Error("no core may be used", kFailure);
    return pus;
}

void hold(int pu) {
    if (!launch::bind_to({pu}))
        throw system_error("a member cannot be bound", errno).given(fmt::format("PU {}", pu));
}

/// The forked members; those that still run when this goes are ended.
class Children {
  public:
    ~Children() {
        for (const pid_t child : pids_) kill(child, SIGKILL);
        for (const pid_t child : pids_) wait_for(child);
    }
    void add(pid_t child) { pids_.push_back(child); }
    /// How many failed.
    int collect() {
        int failed = 0;
        for (const pid_t child : pids_) failed += wait_for(child) == 0 ? 0 : 1;
        pids_.clear();
        return failed;
    }

  private:
    static int wait_for(pid_t child) {
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        return status;
    }
    std::vector<pid_t> pids_;
};

[[noreturn]] void be_member(int member, int pu, team::Arena& arena, const std::function<void(int)>& work) {
    int status = kSuccess;
    try {
        hold(pu);
        work(member);
    } catch (const std::exception& error) {
        status = kFailure;
        std::fprintf(stderr, "strata: member %d: %s\n", member, error.what());
        arena.failure().tell(member, getpid(), "failed");
    }
    _exit(status);
}

}  // namespace

int usable_cores() { return static_cast<int>(cores().size()); }

std::vector<int> pus_for(int members) {
    const std::vector<int> known = cores();
    std::vector<int> pus;
    for (int m = 0; m < members; ++m) pus.push_back(known[static_cast<std::size_t>(m) % known.size()]);
    return pus;
}

void in_processes(int members, team::Arena& arena, const std::function<void(int)>& work) {
    const std::vector<int> pus = pus_for(members);
    const std::vector<int> before = launch::affinity_of();
    std::fflush(nullptr);
    Children children;
    for (int m = 1; m < members; ++m) {
        const pid_t parent = getpid(), child = fork();
        if (child < 0) throw system_error("a member cannot be started", errno);
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent) _exit(kFailure);
            be_member(m, pus[static_cast<std::size_t>(m)], arena, work);
        }
        children.add(child);
    }
    hold(pus.front());
    work(0);
    if (const int failed = children.collect(); failed > 0)
        throw Error("members failed", kFailure).given(fmt::format("{} of {}", failed, members));
    launch::bind_to(before);
}

void in_threads(int members, const std::function<void(int)>& work) { on_pus(pus_for(members), work); }

}  // namespace strata::bench::team_layer
