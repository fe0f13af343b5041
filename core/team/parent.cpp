#include "core/team/parent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/process_tree.hpp"
#include "core/launch/signals.hpp"
#include "core/machine/machine.hpp"
#include "core/observe/proc.hpp"
#include "core/team/crew_table.hpp"
#include "core/team/seats.hpp"

namespace strata::team {
namespace {

using Clock = std::chrono::steady_clock;

/// How long members that are told of a death, or to end, have for their last words.
constexpr auto kGrace = std::chrono::seconds(2);
constexpr const char* kSelf = "/proc/self/exe";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

launch::Layout layout_for(const Options& options, long cores) {
    if (options.layout) return *options.layout;
    const std::string said = variable("STRATA_LAYOUT");
    launch::Layout layout;
    layout.processes = static_cast<int>(cores);
    if (!said.empty()) layout = launch::parse_layout(said);
    if (const std::string bind = variable("STRATA_BIND"); !bind.empty()) launch::parse_bind(bind, layout);
    if (const std::string stride = variable("STRATA_STRIDE"); !stride.empty())
        layout.stride = std::atoi(stride.c_str());
    if (layout.stride < 1)
        throw Error("the stride is not a positive number")
            .given("STRATA_STRIDE=" + variable("STRATA_STRIDE"));
    return layout;
}

/// `strata launch` with several processes starts as many copies, and each would start a team of its own.
void refuse_copies() {
    const std::string size = variable("STRATA_SIZE");
    if (size.empty() || size == "1") return;
    throw Error("this program starts its members itself, and is one of several copies already")
        .given(fmt::format("STRATA_SIZE={}, STRATA_LAYOUT={}", size, variable("STRATA_LAYOUT")))
        .allowed("one copy")
        .remedy(fmt::format("STRATA_LAYOUT={} ./a.out, without strata launch or mpirun around it",
                            variable("STRATA_LAYOUT").empty() ? "PxT" : variable("STRATA_LAYOUT")));
}

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

struct Member {
    int pid = 0;  // 0: has ended
    int line = -1;
    bool agreed = false;
};

class Parent {
  public:
    Parent(Arena& arena, const launch::Placement& placement) : arena_(arena), placement_(placement) {
        launch::adopt_orphans();
    }
    ~Parent() {
        for (const int pid : launch::end_all_descendants())
            fmt::print(stderr,
                       "strata: note: process {} has been killed but the kernel does not let it end yet\n",
                       pid);
        for (const Member& member : members_) close(member.line);
    }
    Parent(const Parent&) = delete;
    Parent& operator=(const Parent&) = delete;

    void start(const std::vector<std::string>& arguments);
    /// False when a member ended first.
    bool agree();
    void watch();
    [[nodiscard]] int status() const { return status_; }

  private:
    [[noreturn]] void enter(int rank, int line, int report, int parent,
                            const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment);
    void start_one(int rank, const std::vector<std::string>& arguments);
    bool answered();
    void collect();
    void ended(int rank, int status);
    void handle(int signal);
    void suspend();
    [[nodiscard]] bool any_alive() const {
        return std::any_of(members_.begin(), members_.end(), [](const Member& m) { return m.pid != 0; });
    }

    Arena& arena_;
    const launch::Placement& placement_;
    launch::SignalEvents signals_;
    std::vector<Member> members_;
    int status_ = 0, asked_by_ = 0;
    std::optional<Clock::time_point> kill_at_;
};

/// In the new process, up to becoming the program.
void Parent::enter(int rank, int line, int report, int parent, const std::vector<std::string>& arguments,
                   const std::vector<std::string>& environment) {
    setsid();  // keys of the terminal go to the parent, which passes them on
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent) _exit(128 + SIGKILL);
    for (const int kept : {line, arena_.descriptor()}) fcntl(kept, F_SETFD, 0);
    if (rank != 0)
        if (const int nothing = open("/dev/null", O_RDONLY); nothing >= 0) {
            dup2(nothing, STDIN_FILENO);
            close(nothing);
        }
    signals_.restore();
    const bool bound = placement_.layout.bind == launch::Bind::none || launch::bind_to(placement_.pus(rank));
    const int why = bound ? launch::become(kSelf, arguments, environment) : errno;
    [[maybe_unused]] const ssize_t n = write(report, &why, sizeof why);
    _exit(kNotFound);
}

void Parent::start_one(int rank, const std::vector<std::string>& arguments) {
    int ends[2], report[2];  // of a start that fails: it closes when the program begins
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(report, O_CLOEXEC) != 0)
        throw system_error("a line to a member cannot be made", errno).remedy("ulimit -n");
    const int parent = getpid(), size = placement_.layout.processes;
    auto settings = launch::settings_for(placement_, rank, rank, size);
    settings.push_back({kSeatVariable, to_text(SeatWord{rank, size, arena_.descriptor(), ends[1], parent,
                                                        arena_.capacity()})});
    settings.push_back({kParentVariable, "", true});
    const auto environment = launch::apply_settings(settings, launch::own_environment());
    Member member{0, ends[0], false};
    member.pid = fork();
    if (member.pid == 0) enter(rank, ends[1], report[1], parent, arguments, environment);
    const int why_no_fork = errno;
    close(ends[1]);
    close(report[1]);
    int why = 0;
    const bool refused = member.pid > 0 && read(report[0], &why, sizeof why) == sizeof why;
    close(report[0]);
    if (member.pid < 0) why = why_no_fork;
    if (member.pid >= 0) members_.push_back(member);
    if (member.pid < 0 || refused)
        throw system_error(fmt::format("member {} of {} cannot be started", rank, size), why)
            .remedy("ulimit -u");
}

void Parent::start(const std::vector<std::string>& arguments) {
    for (int rank = 0; rank < placement_.layout.processes; ++rank) start_one(rank, arguments);
}

/// Each member is told an address and says whether it is free there. When one says no, all move on to the
/// next.
bool Parent::agree() {
    const auto tell = [&](std::uintptr_t address) {
        for (Member& member : members_) {
            member.agreed = false;
            [[maybe_unused]] const ssize_t n = send(member.line, &address, sizeof address, MSG_NOSIGNAL);
        }
    };
    tell(arena_.address());
    while (true) {
        bool all_say_yes = true;
        for (Member& member : members_) {
            while (!member.agreed) {
                pollfd line{member.line, POLLIN, 0};
                poll(&line, 1, 50);
                char word = 0;
                const ssize_t n = recv(member.line, &word, 1, MSG_DONTWAIT);
                if (n == 1) {
                    member.agreed = true;
                    all_say_yes = all_say_yes && word == 'y';
                }
                bool unused = false;
                for (const int signal : signals_.wait(0, std::nullopt, unused)) handle(signal);
                collect();
                if (kill_at_) return false;
            }
        }
        if (all_say_yes) break;
        if (!arena_.move_on())
            throw Error("no address for the arena is free in every member", kFailure)
                .remedy("a smaller capacity");
        tell(arena_.address());
    }
    tell(0);
    return true;
}

void Parent::ended(int rank, int status) {
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

void Parent::collect() {
    for (const launch::Ended& end : launch::collect_ended())
        for (std::size_t rank = 0; rank < members_.size(); ++rank)
            if (members_[rank].pid == end.pid) ended(static_cast<int>(rank), end.status);
}

void Parent::handle(int signal) {
    if (signal == SIGCHLD) return;
    if (signal == SIGTSTP) return suspend();
    for (const Member& member : members_)
        if (member.pid != 0) kill(-member.pid, signal);
    if (signal == SIGUSR1 || signal == SIGUSR2) return;
    kill_at_ = asked_by_ == 0 ? Clock::now() + kGrace : Clock::now();
    if (asked_by_ == 0) asked_by_ = signal;
}

/// Ctrl-Z: the members stop with their parent and go on with it.
void Parent::suspend() {
    const std::vector<int> all = observe::descendants_of(getpid());
    for (const int pid : all) kill(pid, SIGSTOP);
    kill(getpid(), SIGSTOP);
    for (const int pid : all) kill(pid, SIGCONT);
}

void Parent::watch() {
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

}  // namespace

int look_after(const std::vector<std::string>& arguments, const Options& options) {
    refuse_copies();
    const machine::Machine machine = machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
    const long cores = static_cast<long>(launch::allowed_cores(machine).size());
    launch::Wish wish;
    wish.layout = layout_for(options, cores);
    const launch::Placement placement = launch::place(machine, wish);
    Arena arena = Arena::create(options.capacity);
    lay_out(arena, placement, neighbourhood(machine, placement), cores);
    const CrewPlaces places = crew_places(machine, placement);
    CrewTable::form(arena.allocate(kCrewsArray, CrewTable::bytes(places)), places);
    int status = 0;
    {
        Parent parent(arena, placement);
        parent.start(arguments);
        if (parent.agree()) parent.watch();
        status = parent.status();
    }
    return status;
}

}  // namespace strata::team
