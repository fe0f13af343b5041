#include "core/team/watcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/launch/process_tree.hpp"
#include "core/observe/proc.hpp"
#include "core/team/seats.hpp"

namespace strata::team {
namespace {

/// How long members that are told of a death, or to end, have for their last words.
constexpr auto kGrace = std::chrono::seconds(2);

std::string name_of(int signal) {
    constexpr std::pair<int, const char*> names[] = {
        {SIGHUP, "SIGHUP"},   {SIGINT, "SIGINT"},   {SIGQUIT, "SIGQUIT"}, {SIGILL, "SIGILL"},
        {SIGTRAP, "SIGTRAP"}, {SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
        {SIGKILL, "SIGKILL"}, {SIGUSR1, "SIGUSR1"}, {SIGSEGV, "SIGSEGV"}, {SIGUSR2, "SIGUSR2"},
        {SIGPIPE, "SIGPIPE"}, {SIGALRM, "SIGALRM"}, {SIGTERM, "SIGTERM"}, {SIGXCPU, "SIGXCPU"},
        {SIGXFSZ, "SIGXFSZ"}, {SIGSYS, "SIGSYS"}};
    for (const auto& [number, name] : names)
        if (number == signal) return name;
    return fmt::format("signal {}", signal);
}

}  // namespace

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
    std::string how = WIFSIGNALED(status) ? "was killed by " + name_of(WTERMSIG(status))
                      : status != 0       ? fmt::format("exited with status {}", WEXITSTATUS(status))
                                          : "ended with status 0 but did not leave its team in good order";
    const auto* notes = static_cast<const Note*>(arena_.find(kNotesArray));
    if (const char* note = notes[rank].text; note[0] != '\0') how += fmt::format(": {}", note);
    if (asked_by_ == 0 && status_ == 0) {
        arena_.failure().tell(rank, pid, how);
        fmt::print(stderr, "strata: error: {}; the run ends\n", arena_.failure().text());
    }
    if (status_ == 0)
        status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : std::max(1, WEXITSTATUS(status));
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
    const std::vector<int> all = observe::descendants_of(getpid());
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
