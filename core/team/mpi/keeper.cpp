#include "core/team/mpi/keeper.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/launch/process_tree.hpp"
#include "core/launch/scratch.hpp"
#include "core/team/mpi/keeping.hpp"

namespace strata::team {

using Kind = Message::Kind;

Keeper::Keeper(std::uint64_t capacity)
    : capacity_(capacity),
      node_({.said = [this](const Received& received, int line) { said_on_node(received, line); },
             .vanished = [this](const Message& who) { neighbour_vanished(who); },
             .watch = [this](int socket) { watch(socket); }}),
      heads_({.said = [this](int node, const Message& word) { said_by_node(node, word); },
              .vanished = [this](const Message& who, const std::string& how) { node_vanished(who, how); },
              .watch = [this](int socket) { watch(socket); }}) {
    launch::adopt_orphans();
    events_ = epoll_create1(EPOLL_CLOEXEC);
    // When mpirun is gone, for any reason, its ranks must end too.
    parent_ = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
    if (parent_ >= 0) {
        fcntl(parent_, F_SETFD, FD_CLOEXEC);
        watch(parent_);
    } else {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // kernels before 5.3
    }
}

Keeper::~Keeper() {
    launch::end_process_tree();
    // The files for messages between ranks have names. A killed rank leaves its own behind, and so does Open
    // MPI 4's mpirun. When the last rank of the node ends, no other process uses them.
    if (lost_ || status_ != 0 || asked_by_ != 0) launch::remove_stray_segments(started_);
    for (const int descriptor : {events_, parent_})
        if (descriptor >= 0) close(descriptor);
}

void Keeper::watch(int descriptor) const {
    epoll_event about{};
    about.events = EPOLLIN;
    about.data.fd = descriptor;
    epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &about);
}

void Keeper::start(const std::vector<std::string>& arguments) {
    member_.start(arguments, signals_);
    watch(member_.line());
}

void Keeper::handle(int signal) {
    if (signal == SIGCHLD) return;
    // The member has received it as well: it is in the same process group.
    if (signal == SIGTSTP) {
        kill(getpid(), SIGSTOP);
        return;
    }
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    member_.signal(signal);
    kill_at_ = asked_by_ == 0 ? Clock::now() + kGrace : Clock::now();
    leave_at_ = *kill_at_ + kLastWords;
    if (asked_by_ == 0) asked_by_ = signal;
    if (!member_.alive()) done_ = true;
}

/// If a keeper ended early, MPI's launcher would end the others, perhaps before they have reported their
/// errors.
void Keeper::leave_when_all_have() {
    if (!is_head() || member_.alive() || node_.gone() < where_->local_size - 1) return;
    if (where_->node == 0) {
        if (heads_.linked_but(nodes_gone_) > 0) return;
    } else if (heads_.linked() > 0) {
        if (!std::exchange(said_gone_, true)) heads_.tell(Message{.kind = Kind::gone});
        return;
    }
    finish();
}

/// As leave_when_all_have(), for the members' calls of MPI_Finalize (MpiNodes::finish()).
void Keeper::finish_mpi_when_all_can() {
    if (!is_head() || told_to_finish_ || ready_ < where_->local_size) return;
    if (where_->node == 0) {
        if (heads_.linked_but(nodes_ready_) > 0) return;
    } else if (heads_.linked() > 0) {
        if (!std::exchange(said_ready_, true)) heads_.tell(Message{.kind = Kind::ready});
        return;
    }
    finish_mpi();
}

void Keeper::finish_mpi() {
    told_to_finish_ = true;
    const Message word{.kind = Kind::finish};
    if (is_head() && where_->node == 0) heads_.tell(word);
    if (is_head()) node_.tell(word);
    member_.tell(word);
}

/// All members have ended.
void Keeper::finish() {
    done_ = true;
    heads_.expect_no_more();
    if (!is_head()) return;
    if (where_->node == 0) heads_.tell(Message{.kind = Kind::end});
    node_.tell(Message{.kind = Kind::end});
}

double Keeper::until_next_moment() const {
    double wait = heads_.until_turn();
    if (const double left = node_.until_turn(); left >= 0) wait = wait < 0 ? left : std::min(wait, left);
    for (const auto& moment : {kill_at_, leave_at_})
        if (moment) {
            const double left = std::chrono::duration<double>(*moment - Clock::now()).count();
            // A moment that has passed has had its effect; the next event is the other moment, or a message.
            if (left > 0) wait = wait < 0 ? left : std::min(wait, left);
        }
    return wait;
}

void Keeper::take_turn() {
    bool readable = false;
    for (const int signal : signals_.wait(until_next_moment(), events_, readable)) handle(signal);
    for (const launch::Ended& end : launch::collect_ended())
        if (member_.alive() && end.pid == member_.pid()) member_ended(end.status);
    listen_to_member();
    node_.listen();
    if (heads_.in_use()) {
        heads_.listen();
        heads_.turn();
    }
    if (where_) finish_mpi_when_all_can();
    if (where_) leave_when_all_have();
    epoll_event about[8];
    for (int n = epoll_wait(events_, about, 8, 0); n > 0; --n)
        if (about[n - 1].data.fd == parent_) {
            status_ = 128 + SIGKILL;
            done_ = true;
        }
    const auto now = Clock::now();
    if (kill_at_ && now >= *kill_at_) member_.signal(SIGKILL);
    if (leave_at_ && now >= *leave_at_) done_ = true;
}

int Keeper::keep() {
    while (!done_) take_turn();
    if (status_ == 0 && asked_by_ != 0) return 128 + asked_by_;
    if (lost_ && (status_ == 0 || asked_by_ == 0)) return lost_->status != 0 ? lost_->status : kFailure;
    return status_;
}

int keep_rank(const std::vector<std::string>& arguments, const Options& options) {
    Keeper keeper(options.capacity);
    keeper.start(arguments);
    return keeper.keep();
}

KeeperLink parse_keeper_link(const std::string& word) {
    KeeperLink kept;
    std::istringstream(word) >> kept.line >> kept.keeper;
    return kept;
}

}  // namespace strata::team
