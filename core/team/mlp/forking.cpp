#include "core/team/mlp/forking.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/process_tree.hpp"
#include "core/machine/machine.hpp"
#include "core/team/crew_table.hpp"
#include "core/team/mlp/session.hpp"
#include "core/team/mlp/threads.hpp"
#include "core/team/parent.hpp"
#include "core/team/seats.hpp"
#include "core/team/watcher.hpp"

namespace strata::team::mlp {
namespace {

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

/// A code of that time gives the number of processes, and often sets the number of threads itself. Its
/// members are bound to cores only where STRATA_LAYOUT is set.
launch::Layout layout_of(int members, long cores) {
    launch::Layout layout;
    if (is_set("STRATA_LAYOUT")) {
        layout = layout_for({}, cores);
        if (layout.processes != members)
            throw Error("FORKIT and STRATA_LAYOUT differ in the number of processes")
                .given(fmt::format("numpro = {}, STRATA_LAYOUT={}", members, launch::to_text(layout)))
                .remedy(fmt::format("STRATA_LAYOUT={}x{}, or without it", members, layout.threads));
        return layout;
    }
    layout.processes = members;
    layout.threads = static_cast<int>(std::max(1L, cores / members));
    if (is_set("OMP_NUM_THREADS")) layout.threads = std::max(1, std::atoi(std::getenv("OMP_NUM_THREADS")));
    layout.bind = launch::Bind::none;
    return layout;
}

void refuse_what_no_fork_takes_along() {
    const bool released = release_openmp_threads();
    const std::vector<std::string> others = other_threads();
    if (others.empty()) return;
    throw Error(
        "FORKIT cannot fork a process that has other threads: they would be missing in the members, "
        "with whatever they hold locked")
        .given(fmt::format("{} more ({})", others.size(), fmt::join(others, ", ")))
        .allowed("one thread")
        .remedy(released ? "call FORKIT before what starts threads (MPI, a threaded BLAS, an OpenMP runtime "
                           "that is linked statically or older than OpenMP 5.0)"
                         : "call FORKIT outside of parallel regions; the OpenMP runtime did not release its "
                           "threads");
}

/// The runtime has bound the master already, and would bind the threads of all members to the same cores.
void refuse_bound_threads() {
    if (!openmp_binds()) return;
    throw Error("OpenMP's runtime is told to bind its threads, and read that before there were members")
        .given(is_set("OMP_PROC_BIND") ? fmt::format("OMP_PROC_BIND={}", std::getenv("OMP_PROC_BIND"))
                                       : "OMP_PLACES or a variable of the runtime's own")
        .allowed("OMP_PROC_BIND=false, or none")
        .remedy("unset it; STRATA_LAYOUT=PxT binds each process to its cores");
}

class Forking : public Watcher {
  public:
    Forking(Arena& arena, const launch::Placement& placement) : Watcher(arena), placement_(placement) {}
    /// True in the members; rank() is then the member's number.
    bool fork_all();
    [[nodiscard]] int rank() const { return static_cast<int>(members_.size()); }

  private:
    const launch::Placement& placement_;
};

bool Forking::fork_all() {
    const int parent = getpid(), size = placement_.layout.processes;
    while (rank() < size) {
        const pid_t pid = fork();
        if (pid < 0)
            throw system_error(fmt::format("member {} of {} cannot be forked", rank(), size), errno)
                .remedy("ulimit -u");
        if (pid > 0) {
            members_.push_back({pid, -1, true});
            continue;
        }
        launch::end_with_parent(parent);
        settle(rank());
        if (placement_.layout.bind != launch::Bind::none && !launch::bind_to(placement_.pus(rank())))
            throw system_error(fmt::format("member {} cannot be bound", rank()), errno);
        if (!launch::hold_memory(placement_.memory_of(rank())))
            throw system_error(fmt::format("member {} cannot have its memory where it is to be", rank()),
                               errno);
        return true;
    }
    return false;
}

void describe_in_environment(const launch::Placement& placement, int rank) {
    // The OpenMP runtime's variables were read when the program started, and are the user's.
    for (const auto& set : launch::settings_for(placement, rank, rank, placement.layout.processes))
        if (std::string_view(set.name).starts_with("STRATA_"))
            set.removed ? unsetenv(set.name.c_str()) : setenv(set.name.c_str(), set.value.c_str(), 1);
}

/// A code of that time ends by STOP or END, without a call to the library.
void leave_at_exit(int status, void*) {
    if (status == 0) session().team.reset();
}

}  // namespace

int fork_members(std::int64_t members, Arena& arena) {
    if (session().team) throw Error("FORKIT is called once, and not in a member of a team");
    if (members < 1 || members > INT_MAX / 2)
        throw Error("FORKIT needs the number of processes")
            .given(fmt::format("numpro = {}", members))
            .allowed("1 or more")
            .remedy("for default integers of 8 bytes link strata_mlplib_i8");
    refuse_copies();
    if (members > 1) refuse_bound_threads();
    const machine::Machine machine = machine::read_machine(
        {.text = "system", .with_devices = false, .with_limits = false, .cached = true});
    const long cores = static_cast<long>(launch::allowed_cores(machine).size());
    const bool sets_threads = is_set("STRATA_LAYOUT") || !is_set("OMP_NUM_THREADS");
    const launch::Placement placement = placement_for(machine, layout_of(static_cast<int>(members), cores));
    refuse_what_no_fork_takes_along();
    lay_out(arena, placement, neighbourhood(machine, placement), is_crowded(placement.layout, cores));
    const CrewPlaces places = crew_places(machine, placement);
    CrewTable::form(arena.allocate(kCrewsArray, CrewTable::bytes(places)), places);
    flush_all();  // else every member would write the content of the buffers
    const int parent = getpid();
    int rank = 0;
    std::optional<int> status;  // in the original process
    {
        Forking forking(arena, placement);
        if (!forking.fork_all()) {
            forking.watch();
            status = forking.status();
        } else {
            rank = forking.rank();
        }
    }
    if (status) _exit(*status);  // without the program's exit handlers: the members ran them
    describe_in_environment(placement, rank);
    SeatWord word;
    word.rank = rank;
    word.size = placement.layout.processes;
    word.parent = parent;
    word.capacity = arena.capacity();
    session().team.reset(new Team(take_seat(word, std::move(arena))));
    session().before.reset();
    on_exit(leave_at_exit, nullptr);
    if (sets_threads) set_openmp_threads(placement.layout.threads);
    session().team->barrier();  // all members are there before any goes on
    const char* first = std::getenv("STRATA_FORKIT_FIRST");
    return rank + (first == nullptr ? 0 : std::atoi(first));
}

}  // namespace strata::team::mlp
