#include "core/team/mpi/keeper.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/process_tree.hpp"
#include "core/launch/scratch.hpp"
#include "core/launch/signals.hpp"
#include "core/team/ending.hpp"
#include "core/team/mpi/heads.hpp"
#include "core/team/mpi/lines.hpp"
#include "core/team/seats.hpp"

namespace strata::team {
namespace {

using Clock = std::chrono::steady_clock;
using Kind = Message::Kind;

/// Beyond the members' grace, for the last words between keepers.
constexpr auto kLastWords = std::chrono::milliseconds(500);

std::string host_name() {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    return name;
}

std::uint64_t random_token() {
    std::random_device random;
    return (std::uint64_t{random()} << 32) | random();
}

class Keeper {
  public:
    explicit Keeper(std::uint64_t capacity);
    ~Keeper();
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;

    void start(const std::vector<std::string>& arguments);
    int keep();

  private:
    [[nodiscard]] bool is_head() const { return where_ && where_->local_rank == 0; }
    void watch(int descriptor);
    void take_turn();
    void collect();
    void handle(int signal);
    void listen_to_member();
    void listen_to_head();
    void listen_to_neighbours();
    void take_place(const Message& word);
    void join(const Message& word);
    void member_ended(int status);
    void lost(const Message& who, bool news, int from_line = -1, int from_node = -1);
    void vanished(const Message& head, const std::string& how);
    void finish();
    void leave_when_all_have();
    [[nodiscard]] Message introduction(std::uint64_t token) const;

    launch::SignalEvents signals_;
    double started_ =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    int events_ = -1, parent_ = -1;  // what is waited for; who started this process
    int line_ = -1, member_ = 0;     // to the member; its process, 0: has ended
    int member_pid_ = 0;
    bool gone_ = false, said_gone_ = false, done_ = false;
    int status_ = 0, asked_by_ = 0;
    std::optional<Where> where_;
    std::uint64_t capacity_, token_ = 0;
    std::optional<Arena> arena_;
    int head_ = -1;        // line to the head, of the others
    int neighbours_ = -1;  // where those of this node call, of the head
    struct Neighbour {
        std::optional<Message> who;
        bool gone = false;
    };
    std::map<int, Neighbour> locals_;  // [line]
    int locals_gone_ = 0;
    std::set<int> nodes_gone_;
    Heads heads_;
    std::optional<Message> lost_;
    std::optional<Clock::time_point> kill_at_, leave_at_;
};

Keeper::Keeper(std::uint64_t capacity)
    : capacity_(capacity),
      heads_({.said =
                  [this](int node, const Message& word) {
                      if (word.kind == Kind::lost) lost(word, false, -1, node);
                      if (word.kind == Kind::gone) nodes_gone_.insert(node);
                      if (word.kind == Kind::end) finish();
                  },
              .vanished = [this](const Message& who, const std::string& how) { vanished(who, how); },
              .watch = [this](int socket) { watch(socket); }}) {
    launch::adopt_orphans();
    events_ = epoll_create1(EPOLL_CLOEXEC);
    // When mpirun is gone, whatever ended it, its ranks are not to stay.
    parent_ = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
    if (parent_ >= 0) {
        fcntl(parent_, F_SETFD, FD_CLOEXEC);
        watch(parent_);
    } else {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // kernels before 5.3
    }
}

Keeper::~Keeper() {
    for (const int pid : launch::end_all_descendants())
        fmt::print(stderr,
                   "strata: note: process {} has been killed but the kernel does not let it end yet\n", pid);
    // The files through which ranks send each other messages have names; a rank that was killed leaves its
    // own, and so does Open MPI 4's mpirun. The last of the node to end finds nobody at them.
    if (lost_ || status_ != 0 || asked_by_ != 0) launch::remove_stray_segments(started_);
    for (const auto& [line, who] : locals_) close(line);
    for (const int descriptor : {events_, parent_, line_, head_, neighbours_})
        if (descriptor >= 0) close(descriptor);
}

void Keeper::watch(int descriptor) {
    epoll_event about{};
    about.events = EPOLLIN;
    about.data.fd = descriptor;
    epoll_ctl(events_, EPOLL_CTL_ADD, descriptor, &about);
}

void Keeper::start(const std::vector<std::string>& arguments) {
    int ends[2], report[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(report, O_CLOEXEC) != 0)
        throw system_error("a line to the member cannot be made", errno).remedy("ulimit -n");
    const int self = getpid();
    const auto environment = launch::apply_settings(
        {{kRankVariable, fmt::format("{} {}", ends[1], self)}, {kParentVariable, "", true}},
        launch::own_environment());
    member_ = fork();
    if (member_ == 0) {
        // It stays in this process group: what MPI's launcher sends to the group is meant for it too.
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != self) _exit(128 + SIGKILL);
        fcntl(ends[1], F_SETFD, 0);
        signals_.restore();
        const int why = launch::become("/proc/self/exe", arguments, environment);
        [[maybe_unused]] const ssize_t n = write(report[1], &why, sizeof why);
        _exit(kNotFound);
    }
    const int why_no_fork = errno;
    close(ends[1]);
    close(report[1]);
    int why = member_ < 0 ? why_no_fork : 0;
    const bool refused = member_ > 0 && read(report[0], &why, sizeof why) == sizeof why;
    close(report[0]);
    line_ = ends[0];
    if (member_ < 0 || refused) throw system_error("the member cannot be started", why).remedy("ulimit -u");
    member_pid_ = member_;
    watch(line_);
}

Message Keeper::introduction(std::uint64_t token) const {
    Message hello{.kind = Kind::hello};
    hello.where = *where_;
    hello.member = where_->rank;
    hello.pid = member_;
    hello.token = token;
    hello.say(host_name());
    return hello;
}

/// The member knows from MPI where it is. The first of each node makes the arena and is called by the others.
void Keeper::take_place(const Message& word) {
    where_ = word.where;
    if (!is_head()) return;
    token_ = random_token();
    arena_ = Arena::create(capacity_);
    const Listening made = listen_on_node(token_);
    neighbours_ = made.socket;
    watch(neighbours_);
    Message here{.kind = Kind::here};
    here.capacity = arena_->capacity();
    here.token = token_;
    std::snprintf(here.name, sizeof here.name, "%s", made.name.c_str());
    if (where_->node == 0 && where_->nodes > 1) here.say(heads_.open(introduction(token_)));
    send_message(line_, here, arena_->descriptor());
}

/// The names have gone round: everybody's keeper calls its head, and the heads that of node 0.
void Keeper::join(const Message& word) {
    if (is_head()) {
        if (where_->node > 0) {
            if (!heads_.call(word.text, introduction(word.network_token)))
                fmt::print(
                    stderr,
                    "strata: note: node {} ({}) cannot reach node 0 by TCP at {}: if one of them stops "
                    "or vanishes, the other is not told\n",
                    where_->node, host_name(), static_cast<const char*>(word.text));
        }
        send_message(line_, Message{.kind = Kind::arena});
        return;
    }
    capacity_ = word.capacity;
    head_ = call_on_node(word.name);
    if (head_ < 0 || !send_message(head_, introduction(word.token)))
        throw system_error("the first member of this node cannot be reached", errno);
    watch(head_);
}

void Keeper::listen_to_member() {
    while (line_ >= 0) {
        const Received received = receive_message(line_);
        if (received.message) {
            if (received.message->kind == Kind::place) take_place(*received.message);
            if (received.message->kind == Kind::join) join(*received.message);
            continue;
        }
        if (received.closed) close(std::exchange(line_, -1));  // it has all it needs, or has ended
        return;
    }
}

void Keeper::listen_to_head() {
    while (head_ >= 0 && !done_) {
        const Received received = receive_message(head_);
        if (received.message) {
            switch (received.message->kind) {
                case Kind::arena:
                    send_message(line_, *received.message, received.descriptor);
                    arena_ = Arena::view(received.descriptor, capacity_);
                    break;
                case Kind::lost:
                    lost(*received.message, false);
                    break;
                case Kind::end:
                    finish();
                    break;
                default:
                    break;
            }
            continue;
        }
        if (!received.closed) return;
        close(std::exchange(head_, -1));
        if (lost_) return;  // that it goes then is in order
        Message who{.kind = Kind::lost};
        who.member = where_->rank - where_->local_rank;
        who.status = 128 + SIGKILL;
        who.say("was killed with the process that looks after it");
        lost(who, true);
    }
}

void Keeper::listen_to_neighbours() {
    for (int line = 0; neighbours_ >= 0 && line >= 0;) {
        line = accept4(neighbours_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (line < 0) break;
        locals_[line];
        watch(line);
    }
    std::vector<int> lines;
    for (const auto& [line, who] : locals_) lines.push_back(line);
    for (const int line : lines) {
        Neighbour& neighbour = locals_[line];
        while (true) {
            const Received received = receive_message(line);
            if (received.message && received.message->kind == Kind::hello) {
                // Who does not know the word has no business here.
                if (received.message->token != token_) break;
                neighbour.who = received.message;
                send_message(line, Message{.kind = Kind::arena}, arena_->descriptor());
            } else if (received.message && received.message->kind == Kind::lost) {
                lost(*received.message, false, line);
            } else if (received.message && received.message->kind == Kind::gone) {
                neighbour.gone = true;
                ++locals_gone_;
            }
            if (received.message) continue;
            if (received.closed) {
                const Neighbour was = neighbour;
                close(line);
                locals_.erase(line);
                if (was.gone || !was.who) break;
                ++locals_gone_;
                Message who{.kind = Kind::lost};
                who.member = was.who->member;
                who.pid = was.who->pid;
                who.status = 128 + SIGKILL;
                who.say("was killed with the process that looks after it");
                lost(who, true);
            }
            break;
        }
    }
}

void Keeper::vanished(const Message& head, const std::string& how) {
    if (done_) return;
    nodes_gone_.insert(head.where.node);
    Message who{.kind = Kind::lost};
    who.member = head.where.rank;
    who.status = kFailure;
    const int last = head.where.rank + head.where.local_size - 1;
    who.say(fmt::format("{}(node {}, {}) {}", last > who.member ? fmt::format("to {} ", last) : "",
                        head.where.node, static_cast<const char*>(head.text), how));
    // When node 0 has gone all others find out; one of them says it.
    lost(who, where_->node <= 1, -1, head.where.node);
}

/// The word goes everywhere but where it came from. `news`: this keeper has found it out, and says it on
/// standard error unless somebody of its node was faster.
void Keeper::lost(const Message& who, bool news, int from_line, int from_node) {
    if (lost_) return;
    lost_ = who;
    kill_at_ = Clock::now() + kGrace;
    leave_at_ = *kill_at_ + kLastWords;
    const bool first = !arena_ || arena_->failure().tell(who.member, who.pid, who.text);
    if (news && first && asked_by_ == 0) {
        Failure said;
        said.tell(who.member, who.pid, who.text);
        fmt::print(stderr, "strata: error: {}; the run ends\n", said.text());
    }
    if (is_head()) {
        for (const auto& [line, neighbour] : locals_)
            if (line != from_line) send_message(line, who);
        heads_.tell(who, from_node);
    } else if (news && head_ >= 0) {
        send_message(head_, who);
    }
}

void Keeper::member_ended(int status) {
    member_ = 0;
    gone_ = true;
    const char* note = nullptr;
    bool in_order = false;
    if (arena_ && where_) {
        const auto local = static_cast<std::size_t>(where_->local_rank);
        if (const auto* notes = static_cast<const Note*>(arena_->find(kNotesArray))) note = notes[local].text;
        const auto* departures = static_cast<const Departures*>(arena_->find(kDeparturesArray));
        in_order = status == 0 && departures != nullptr && departures->left(where_->local_rank);
    }
    if (!in_order) {
        status_ = failing_status(status);
        Message who{.kind = Kind::lost};
        who.member = where_ ? where_->rank : -1;
        who.pid = member_pid_;
        who.status = status_;
        const bool far = where_ && where_->nodes > 1;
        who.say((far ? fmt::format("on {} ", host_name()) : "") + how_it_ended(status, note));
        // A member that left because it saw in the arena that another is gone is not news; which one, the
        // head says in a moment.
        if (where_ && !lost_ && arena_ && arena_->failure().told())
            leave_at_ = Clock::now() + kGrace + kLastWords;
        else if (where_)
            lost(who, true);
        else if (asked_by_ == 0)
            fmt::print(stderr, "strata: error: a member (process {}) {} before it had joined its team\n",
                       who.pid, static_cast<const char*>(who.text));
    }
    // Who never joined, or has been asked to end, has nobody to wait for.
    if (!where_ || asked_by_ != 0) done_ = true;
    if (head_ >= 0) send_message(head_, Message{.kind = Kind::gone});
}

void Keeper::collect() {
    for (const launch::Ended& end : launch::collect_ended())
        if (end.pid == member_) member_ended(end.status);
}

void Keeper::handle(int signal) {
    if (signal == SIGCHLD) return;
    // The member got it as well: it is in the same process group.
    if (signal == SIGTSTP) {
        kill(getpid(), SIGSTOP);
        return;
    }
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    if (member_ > 0) kill(member_, signal);
    kill_at_ = asked_by_ == 0 ? Clock::now() + kGrace : Clock::now();
    leave_at_ = *kill_at_ + kLastWords;
    if (asked_by_ == 0) asked_by_ = signal;
    if (gone_) done_ = true;
}

/// A keeper that ended early would have MPI's launcher end the others, perhaps before they have said why.
void Keeper::leave_when_all_have() {
    if (!is_head() || !gone_ || locals_gone_ < where_->local_size - 1) return;
    if (where_->node == 0) {
        if (heads_.linked_but(nodes_gone_) > 0) return;
    } else if (heads_.linked() > 0) {
        if (!std::exchange(said_gone_, true)) heads_.tell(Message{.kind = Kind::gone});
        return;
    }
    finish();
}

/// Everybody has ended.
void Keeper::finish() {
    done_ = true;
    heads_.expect_no_more();
    if (!is_head()) return;
    if (where_->node == 0) heads_.tell(Message{.kind = Kind::end});
    for (const auto& [line, neighbour] : locals_) send_message(line, Message{.kind = Kind::end});
}

void Keeper::take_turn() {
    double wait = heads_.linked() > 0 ? heads_.until_turn() : -1;
    for (const auto& moment : {kill_at_, leave_at_})
        if (moment) {
            const double left = std::chrono::duration<double>(*moment - Clock::now()).count();
            // A moment that has passed has done what it does; what comes next is the other, or an event.
            if (left > 0) wait = wait < 0 ? left : std::min(wait, left);
        }
    bool readable = false;
    for (const int signal : signals_.wait(wait, events_, readable)) handle(signal);
    collect();
    listen_to_member();
    if (head_ >= 0) listen_to_head();
    if (neighbours_ >= 0) listen_to_neighbours();
    if (heads_.in_use()) {
        heads_.listen();
        heads_.turn();
    }
    if (where_) leave_when_all_have();
    epoll_event about[8];
    for (int n = epoll_wait(events_, about, 8, 0); n > 0; --n)
        if (about[n - 1].data.fd == parent_) {
            status_ = 128 + SIGKILL;
            done_ = true;
        }
    const auto now = Clock::now();
    if (kill_at_ && now >= *kill_at_ && member_ > 0) kill(member_, SIGKILL);
    if (leave_at_ && now >= *leave_at_) done_ = true;
}

int Keeper::keep() {
    while (!done_) take_turn();
    if (status_ == 0 && asked_by_ != 0) return 128 + asked_by_;
    if (lost_ && (status_ == 0 || asked_by_ == 0)) return lost_->status != 0 ? lost_->status : kFailure;
    return status_;
}

}  // namespace

int keep_rank(const std::vector<std::string>& arguments, const Options& options) {
    Keeper keeper(options.capacity);
    keeper.start(arguments);
    return keeper.keep();
}

KeptBy parse_kept_by(const std::string& word) {
    KeptBy kept;
    std::istringstream(word) >> kept.line >> kept.keeper;
    return kept;
}

}  // namespace strata::team
