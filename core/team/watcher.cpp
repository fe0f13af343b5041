#include "core/team/watcher.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/launch/process_tree.hpp"
#include "core/team/ending.hpp"

namespace strata::team {

Watcher::Watcher(Arena& arena) : arena_(arena), owner_(getpid()) { launch::adopt_orphans(); }

Watcher::~Watcher() {
    // A forked member has a copy of this object and must not end the parent's processes.
    if (getpid() == owner_) launch::end_process_tree();
    for (const Member& member : members_)
        if (member.line >= 0) close(member.line);
}

bool Watcher::any_alive() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.pid != 0; });
}

void Watcher::settle(int rank) const {
    setsid();
    if (rank != 0) launch::close_input();
    signals_.restore();
}

void Watcher::ended(int rank, int status) {
    const int pid = std::exchange(members_[static_cast<std::size_t>(rank)].pid, 0);
    const MemberEnd end = member_end(status, &arena_, rank);
    if (end.in_order) return;
    const bool first = status_ == 0;
    if (asked_by_ == 0 && (first || says_more(end.note, arena_.failure().text())))
        say_ended(rank, pid, end.how, end.note, first);
    if (asked_by_ == 0 && first) arena_.failure().tell(rank, pid, end.how);
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
    if (signal == SIGTSTP) return launch::stop_with_descendants();
    for (const Member& member : members_)
        if (member.pid != 0) kill(-member.pid, signal);
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    kill_at_ = asked_by_ == 0 ? Clock::now() + kGrace : Clock::now();
    if (asked_by_ == 0) asked_by_ = signal;
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
