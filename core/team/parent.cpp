#include "core/team/parent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/process_tree.hpp"
#include "core/machine/machine.hpp"
#include "core/team/crew_table.hpp"
#include "core/team/seats.hpp"
#include "core/team/watcher.hpp"

namespace strata::team {
namespace {

constexpr const char* kSelf = "/proc/self/exe";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

class Parent : public Watcher {
  public:
    Parent(Arena& arena, const launch::Placement& placement) : Watcher(arena), placement_(placement) {}

    void start(const std::vector<std::string>& arguments);
    /// Returns false when a member ended first.
    bool agree();

  private:
    int enter(int rank, int line, const std::vector<std::string>& arguments,
              const std::vector<std::string>& environment);
    void start_one(int rank, const std::vector<std::string>& arguments);

    const launch::Placement& placement_;
};

/// In the new process: all steps up to exec of the program. Returns errno when that fails.
int Parent::enter(int rank, int line, const std::vector<std::string>& arguments,
                  const std::vector<std::string>& environment) {
    settle(rank);
    for (const int kept : {line, arena_.descriptor()}) fcntl(kept, F_SETFD, 0);
    const bool placed =
        (placement_.layout.bind == launch::Bind::none || launch::bind_to(placement_.pus(rank))) &&
        launch::hold_memory(placement_.memory_of(rank));
    return placed ? launch::become(kSelf, arguments, environment) : errno;
}

void Parent::start_one(int rank, const std::vector<std::string>& arguments) {
    int ends[2], report[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 || pipe2(report, O_CLOEXEC) != 0)
        throw system_error("a line to a member cannot be made", errno).remedy("ulimit -n");
    const int parent = getpid(), size = placement_.layout.processes;
    auto settings = launch::settings_for(placement_, rank, rank, size);
    settings.push_back({kSeatVariable, to_text(SeatWord{rank, size, arena_.descriptor(), ends[1], parent,
                                                        arena_.capacity()})});
    settings.push_back({kParentVariable, "", true});
    const auto environment = launch::apply_settings(settings, launch::own_environment());
    const launch::Started started =
        launch::start_process(report, [&] { return enter(rank, ends[1], arguments, environment); });
    close(ends[1]);
    if (started.pid > 0) members_.push_back({started.pid, ends[0], false});
    if (started.error != 0)
        throw system_error(fmt::format("member {} of {} cannot be started", rank, size), started.error)
            .remedy("ulimit -u");
}

void Parent::start(const std::vector<std::string>& arguments) {
    for (int rank = 0; rank < placement_.layout.processes; ++rank) start_one(rank, arguments);
}

/// Tells each member an address; each answers whether it is free there. When one answers no, all move on to
/// the next address.
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
                if (ending()) return false;
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

}  // namespace

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

void refuse_copies() {
    launch::Rank copy;
    if (const std::string size = variable("STRATA_SIZE"); !size.empty())
        copy = {std::atoi(variable("STRATA_RANK").c_str()), std::atoi(size.c_str())};
    else if (const auto rank = launch::rank_from_environment())
        copy = *rank;
    if (copy.size <= 1) return;
    // The first copy reports it for all: launchers end the others when it has ended. A copy that is still
    // alive then reports it too: it may be the only one (one process of several has started this program).
    if (copy.rank != 0) std::this_thread::sleep_for(std::chrono::seconds(2));
    const std::string layout = variable("STRATA_LAYOUT");
    throw Error("this program starts its members itself, and is one of several copies already")
        .given(fmt::format("copy {} of {}{}", copy.rank, copy.size,
                           layout.empty() ? "" : ", STRATA_LAYOUT=" + layout))
        .allowed("one copy")
        .remedy(fmt::format("STRATA_LAYOUT={} ./a.out, without strata launch or mpirun around it",
                            layout.empty() ? "PxT" : layout));
}

launch::Placement placement_for(const machine::Machine& machine, const launch::Layout& layout) {
    const std::string chosen = variable(kPlacementVariable), said = variable("STRATA_LAYOUT");
    if (chosen.empty()) {
        launch::Wish wish;
        wish.layout = layout;
        return launch::place(machine, wish);
    }
    if (launch::to_text(layout) != said)
        throw Error("the program's own layout and the launcher's disagree")
            .given(fmt::format("{} in the program, --layout {}", launch::to_text(layout), said))
            .allowed("one layout")
            .remedy(fmt::format("strata launch --layout {}, or start the program without a launcher",
                                launch::to_text(layout)));
    return launch::decode(chosen, layout);
}

int look_after(const std::vector<std::string>& arguments, const Options& options) {
    refuse_copies();
    const machine::Machine machine = machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
    const long cores = static_cast<long>(launch::allowed_cores(machine).size());
    const launch::Placement placement = placement_for(machine, layout_for(options, cores));
    Arena arena = Arena::create(options.capacity);
    lay_out(arena, placement, neighbourhood(machine, placement), is_crowded(placement.layout, cores));
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
