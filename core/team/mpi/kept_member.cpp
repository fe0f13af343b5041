#include "core/team/mpi/kept_member.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/process_tree.hpp"
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
    // It stays in this process group: signals of MPI's launcher to the group are meant for it too.
    const launch::Started started = launch::start_process(report, [&] {
        fcntl(ends[1], F_SETFD, 0);
        signals.restore();
        return launch::become("/proc/self/exe", arguments, environment);
    });
    close(ends[1]);
    line_ = ends[0];
    if (started.error != 0)
        throw system_error("the member cannot be started", started.error).remedy("ulimit -u");
    pid_ = started.pid;
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

}  // namespace strata::team
