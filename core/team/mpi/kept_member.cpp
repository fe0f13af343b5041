#include "core/team/mpi/kept_member.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/team/ending.hpp"
#include "core/team/seats.hpp"

namespace strata::team {

KeptMember::~KeptMember() {
    if (line_ >= 0) close(line_);
}

void KeptMember::start(const std::vector<std::string>& arguments, const launch::SignalEvents& signals) {
    int ends[2], report[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(report, O_CLOEXEC) != 0)
        throw system_error("a line to the member cannot be made", errno).remedy("ulimit -n");
    const int keeper = getpid();
    const auto environment = launch::apply_settings(
        {{kRankVariable, fmt::format("{} {}", ends[1], keeper)}, {kParentVariable, "", true}},
        launch::own_environment());
    const pid_t pid = fork();
    if (pid == 0) {
        // It stays in this process group: what MPI's launcher sends to the group is meant for it too.
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != keeper) _exit(128 + SIGKILL);
        fcntl(ends[1], F_SETFD, 0);
        signals.restore();
        const int why = launch::become("/proc/self/exe", arguments, environment);
        [[maybe_unused]] const ssize_t n = write(report[1], &why, sizeof why);
        _exit(kNotFound);
    }
    const int why_no_fork = errno;
    close(ends[1]);
    close(report[1]);
    int why = pid < 0 ? why_no_fork : 0;
    const bool refused = pid > 0 && read(report[0], &why, sizeof why) == sizeof why;
    close(report[0]);
    line_ = ends[0];
    if (pid < 0 || refused) throw system_error("the member cannot be started", why).remedy("ulimit -u");
    pid_ = pid;
    alive_ = true;
}

void KeptMember::signal(int number) const {
    if (alive_) kill(pid_, number);
}

std::optional<Message> KeptMember::next_word() {
    if (line_ < 0) return {};
    const Received received = receive_message(line_);
    if (!received.message && received.closed) close(std::exchange(line_, -1));
    return received.message;
}

KeptEnd kept_end(int status, const Arena* arena, int local_rank) {
    KeptEnd end;
    if (arena != nullptr) {
        if (const auto* notes = static_cast<const Note*>(arena->find(kNotesArray)))
            end.note = notes + local_rank;
        const auto* departures = static_cast<const Departures*>(arena->find(kDeparturesArray));
        end.in_order = status == 0 && departures != nullptr && departures->left(local_rank);
    }
    end.how = how_it_ended(status, end.note == nullptr ? "" : end.note->text());
    return end;
}

}  // namespace strata::team
