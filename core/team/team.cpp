#include "core/team/team.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/mpi.hpp"
#include "core/team/parent.hpp"
#include "core/team/seats.hpp"

// This note in the program's file tells `strata launch`, without running it, that the program starts its
// processes itself (core/launch/elf.hpp): the owner, its type, and the version of the content.
asm(".pushsection .note.strata.team, \"a\", %note\n"
    ".balign 4\n"
    ".long 7, 4, 1\n"
    ".asciz \"STRATA\"\n"
    ".balign 4\n"
    ".long 1\n"
    ".popsection\n");

namespace strata::team {
namespace {

/// Ends a member without a parent: there is no process left to tell.
[[noreturn]] void end_alone() { _exit(128 + SIGKILL); }

/// Maps the arena at the parent's address, or tells the parent that it cannot, until all members have it at
/// one address.
Arena come_to(const SeatWord& word) {
    // Programs that this member starts must not hold the arena, nor the line by which the parent knows that
    // the member lives.
    for (const int descriptor : {word.arena, word.line}) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    std::optional<Arena> arena;
    while (true) {
        std::uintptr_t address = 0;
        ssize_t n = 0;
        while ((n = recv(word.line, &address, sizeof address, 0)) < 0 && errno == EINTR) {
        }
        if (n != sizeof address) end_alone();
        if (address == 0) break;
        arena.reset();
        arena = Arena::join(fcntl(word.arena, F_DUPFD_CLOEXEC, 0), address, word.capacity);
        const char answer = arena ? 'y' : 'n';
        if (send(word.line, &answer, 1, MSG_NOSIGNAL) != 1) end_alone();
    }
    close(word.arena);
    close(word.line);
    return std::move(*arena);
}

[[noreturn]] void become_parent(const std::vector<std::string>& arguments) {
    std::fflush(nullptr);
    const auto environment =
        launch::apply_settings({{kParentVariable, std::to_string(getpid())}}, launch::own_environment());
    const int why = launch::become("/proc/self/exe", arguments, environment);
    throw system_error("the program cannot start itself afresh", why).given("/proc/self/exe");
}

}  // namespace

Team::Team(Joined&& joined)
    : where_(joined.where),
      exceptions_(std::uncaught_exceptions()),
      placement_(std::move(joined.placement)),
      arena_(std::move(joined.arena)),
      patience_(joined.crowded ? Patience::crowded(&arena_.failure())
                               : Patience{.failure = &arena_.failure()}),
      departures_(static_cast<Departures*>(arena_.find(kDeparturesArray))),
      barrier_(arena_.find(kBarrierArray), where_.local_rank, patience_, departures_),
      nodes_(std::move(joined.nodes)),
      exchange_(nodes_ && where_.nodes > 1
                    ? std::optional<NodeExchange>(std::in_place, arena_.find(kNodeExchangeArray), where_,
                                                  *nodes_, patience_)
                    : std::nullopt),
      together_(arena_.find(kCollectivesArray), where_.local_rank, barrier_,
                exchange_ ? &*exchange_ : nullptr) {
    explain_faults(arena_, &note());
}

/// Under MPI a member must not end before all do: MPI's own end is collective.
void Team::leave() {
    departures_->leave(where_.local_rank, barrier_.count());
    if (!nodes_) return;
    // No barrier here: a member that leaves while others still wait in one must be an error, as on one node.
    const bool others_wait = exchange_ && where_.local_rank != 0;  // for the leader's return
    for (auto pause = std::chrono::microseconds(20);
         !others_wait && departures_->count() < where_.local_size;) {
        arena_.failure().check();
        std::this_thread::sleep_for(pause);
        pause = std::min(pause * 2, std::chrono::microseconds(10'000));
    }
    if (exchange_) exchange_->go([](Nodes& nodes) { nodes.farewell(); });
    nodes_->finish();
}

Team::~Team() {
    if (std::uncaught_exceptions() == exceptions_) {
        try {
            leave();
        } catch (const std::exception&) {
            // Another member is gone, or still waits in a barrier: its end, or its error, is the run's.
        }
    }
    explain_no_faults();
}

Note& Team::note() { return static_cast<Note*>(arena_.find(kNotesArray))[where_.local_rank]; }

Crew& Team::crew() {
    if (!crew_) {
        void* const table = arena_.find(kCrewsArray);
        if (table == nullptr) throw Error("this team was started without crews", kFailure);
        std::vector<std::vector<int>> pus;
        if (placement_.layout.bind != launch::Bind::none)
            for (int rank = where_.rank - where_.local_rank, end = rank + where_.local_size; rank < end;
                 ++rank) {
                const auto& threads = placement_.threads[static_cast<std::size_t>(rank)];
                pus.insert(pus.end(), threads.begin(), threads.end());
            }
        crew_ = std::make_unique<Crew>(table, where_.local_rank, std::move(pus), patience_);
    }
    return *crew_;
}

Team take_seat(const SeatWord& word, Arena&& arena) {
    const auto [placement, crowded] = read_facts(arena);
    return Team(
        {{word.rank, word.size, 0, 1, word.rank, word.size}, std::move(arena), placement, crowded, {}});
}

namespace {

/// Refuses to be one of several ranks of mpirun or srun, in a program that cannot join them.
[[noreturn]] void refuse_ranks(const launch::Rank& rank) {
    // One of them reports it for all; the launcher ends the others when that one has ended.
    if (rank.rank != 0) {
        std::this_thread::sleep_for(std::chrono::seconds(2));
        _exit(kBadInput);
    }
    throw Error(
        "this program was not linked to join other ranks in a team, and mpirun or srun has started several")
        .given(fmt::format("rank {} of {}", rank.rank, rank.size))
        .allowed("a plain start, or a program linked with strata::team_mpi")
        .remedy(fmt::format("STRATA_LAYOUT={}x1 ./a.out for a team on one node; for several, link "
                            "strata::team_mpi (CMake: target_link_libraries(a.out strata::team_mpi))",
                            rank.size));
}

const MpiStart* mpi_start() { return strata_team_mpi_start == nullptr ? nullptr : strata_team_mpi_start(); }

/// A single rank may be a shell inside a job step: the program then starts a team of its own.
bool one_of_several(const std::optional<launch::Rank>& rank) { return rank && rank->size > 1; }

}  // namespace

Team start(int argc, char** argv, const Options& options) {
    if (const char* rank = std::getenv(kRankVariable); rank != nullptr && mpi_start() != nullptr) {
        const std::string word = rank;
        unsetenv(kRankVariable);
        return Team(mpi_start()->join(word, options));
    }
    const char* seat = std::getenv(kSeatVariable);
    if (const auto word = seat == nullptr ? std::nullopt : parse_seat(seat)) {
        unsetenv(kSeatVariable);  // programs that this member starts have no seat here
        if (getppid() != word->parent) end_alone();
        return take_seat(*word, come_to(*word));
    }
    const std::vector<std::string> arguments(argv, argv + argc);
    const bool several = one_of_several(launch::rank_from_environment());
    if (several && mpi_start() == nullptr) refuse_ranks(*launch::rank_from_environment());
    const char* parent = std::getenv(kParentVariable);
    // An inherited mark (in a child of a member that starts a team) names another process.
    if (parent == nullptr || std::to_string(getpid()) != parent) {
        if (several && mpi_start()->too_late())
            throw Error("MPI was initialised before the team was started")
                .remedy("call strata::team::run (or start) first in main(); it initialises MPI itself");
        become_parent(arguments);
    }
    const int status = several ? mpi_start()->look_after(arguments, options) : look_after(arguments, options);
    std::fflush(nullptr);
    _exit(status);
}

int run(int argc, char** argv, const std::function<int(Team&)>& body, const Options& options) {
    bool noted = false;
    try {
        Team team = start(argc, argv, options);
        try {
            return body(team);
        } catch (...) {
            const Reason reason = reason_of_exception();
            // The parent knows more about a death than this member, but nothing about a member that left too
            // early.
            if (!reason.lost || !team.arena().failure().told())
                team.note().leave(reason.text, reason.details, !reason.lost);
            noted = true;
            throw;
        }
    } catch (...) {
        const Reason reason = reason_of_exception();
        if (!noted && !reason.lost) std::fputs(reason.said().c_str(), stderr);
        return reason.status;
    }
}

}  // namespace strata::team
