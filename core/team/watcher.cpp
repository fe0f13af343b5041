#include "core/team/watcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/launch/process_tree.hpp"
#include "core/machine/proc.hpp"
#include "core/team/ending.hpp"
#include "core/team/seats.hpp"

namespace strata::team {

Watcher::Watcher(Arena& arena) : arena_(arena), owner_(getpid()) { launch::adopt_orphans(); }

Watcher::~Watcher() {
    // A member that was forked has a copy of this; what is below the parent is none of its business.
    if (getpid() == owner_)
        for (const int pid : launch::end_all_descendants())
            fmt::print(stderr,
                       "strata: note: process {} has been killed but the kernel does not let it end yet\n",
                       pid);
    for (const Member& member : members_)
        if (member.line >= 0) close(member.line);
}

bool Watcher::any_alive() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.pid != 0; });
}

void Watcher::settle(int rank, int parent) const {
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(128 + SIGKILL);
    if (rank != 0)
        if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
            close(nothing);
        }
    signals_.restore();
}

void Watcher::ended(int rank, int status) {
    const int pid = std::exchange(members_[static_cast<std::size_t>(rank)].pid, 0);
    const auto* departures = static_cast<const Departures*>(arena_.find(kDeparturesArray));
    if (status == 0 && departures->left(rank)) return;
    const auto* notes = static_cast<const Note*>(arena_.find(kNotesArray));
    const Note& note = notes[rank];
    const std::string how = how_it_ended(status, note.text());
    const bool first = status_ == 0;
    if (asked_by_ == 0 && (first || says_more(&note, arena_.failure().text())))
        say_ended(rank, pid, how, &note, first);
    if (asked_by_ == 0 && first) arena_.failure().tell(rank, pid, how);
    if (status_ == 0) status_ = failing_status(status);
    if (!kill_at_) kill_at_ = Clock::now() + kGrace;
}

void Watcher::collect() {
    for (const launch::Ended& end : launch::collect_ended())
        for (std::size_t rank = 0; rank < members_.size(); ++rank)
            if (members_[rank].pid == end.pid) ended(static_cast<int>(rank), end.status);
}

void Watcher::handle(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGTSTP) return suspend();
    for (const Member& member : members_)
        if (member.pid != 0) kill(-member.pid, signal);
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    kill_at_ = asked_by_ == 0 ? Clock::now() + kGrace : Clock::now();
    if (asked_by_ == 0) asked_by_ = signal;
}

/// Ctrl-Z: the members stop with their parent and go on with it.
void Watcher::suspend() {
    const std::vector<int> all = machine::descendants_of(getpid());
    for (const int pid : all) kill(pid, SIGSTOP);
    kill(getpid(), SIGSTOP);
    for (const int pid : all) kill(pid, SIGCONT);
}

void Watcher::watch() {
    collect();
    while (any_alive() && !(kill_at_ && Clock::now() >= *kill_at_)) {
        const double left =
            kill_at_ ? std::max(0.0, std::chrono::duration<double>(*kill_at_ - Clock::now()).count()) : -1;
        bool unused = false;
        for (const int signal : signals_.wait(left, std::nullopt, unused)) handle(signal);
        collect();
    }
    if (asked_by_ != 0 && status_ == 0) status_ = 128 + asked_by_;
}

}  // namespace strata::team
