#include "core/team/team.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/team/parent.hpp"
#include "core/team/seats.hpp"

namespace strata::team {
namespace {

/// Ends a member whose parent is gone: nobody is there to be told.
[[noreturn]] void end_alone() { _exit(128 + SIGKILL); }

/// Maps the arena where the parent says, or says that it cannot, until all members have it at one address.
Arena come_to(const SeatWord& word) {
    // What this member starts is not to hold the arena, nor the line by which the parent knows that it lives.
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

/// What this member says before it ends, to be passed on by the parent. Cut to fit.
char* note = nullptr;
void leave_note(const char* text) {
    if (note != nullptr) std::snprintf(note, sizeof(Note::text), "%s", text);
}

[[noreturn]] void become_parent(const std::vector<std::string>& arguments) {
    std::fflush(nullptr);
    const auto environment =
        launch::apply_settings({{kParentVariable, std::to_string(getpid())}}, launch::own_environment());
    const int why = launch::become("/proc/self/exe", arguments, environment);
    throw system_error("the program cannot start itself afresh", why).given("/proc/self/exe");
}

}  // namespace

struct Team::Seat {
    SeatWord word;
    Arena arena;
    launch::Placement placement;
    bool crowded;
};

Team::Team(Seat&& seat)
    : rank_(seat.word.rank),
      size_(seat.word.size),
      exceptions_(std::uncaught_exceptions()),
      placement_(std::move(seat.placement)),
      arena_(std::move(seat.arena)),
      patience_(seat.crowded ? Patience::crowded(&arena_.failure()) : Patience{.failure = &arena_.failure()}),
      departures_(static_cast<Departures*>(arena_.find(kDeparturesArray))),
      barrier_(arena_.find(kBarrierArray), rank_, patience_, departures_),
      together_(arena_.find(kPlacesArray), rank_, barrier_) {
    note = static_cast<Note*>(arena_.find(kNotesArray))[rank_].text;
    explain_faults(arena_, note, sizeof(Note::text));
}

Team::~Team() {
    if (std::uncaught_exceptions() == exceptions_) departures_->leave(rank_, barrier_.count());
    explain_no_faults();
    note = nullptr;
}

Crew& Team::crew() {
    if (!crew_) {
        void* const table = arena_.find(kCrewsArray);
        if (table == nullptr) throw Error("this team was started without crews", kFailure);
        std::vector<std::vector<int>> pus;
        if (placement_.layout.bind != launch::Bind::none)
            for (const auto& threads : placement_.threads)
                pus.insert(pus.end(), threads.begin(), threads.end());
        crew_ = std::make_unique<Crew>(table, rank_, std::move(pus), patience_);
    }
    return *crew_;
}

Team take_seat(const SeatWord& word, Arena&& arena) {
    const auto* facts = static_cast<const Facts*>(arena.find(kFactsArray));
    launch::Layout layout;
    layout.processes = facts->processes;
    layout.threads = facts->threads;
    layout.stride = facts->stride;
    layout.bind = static_cast<launch::Bind>(facts->bind);
    launch::Placement placement =
        launch::decode(static_cast<const char*>(arena.find(kPlacementArray)), layout);
    const bool crowded = facts->crowded != 0;
    return Team(Team::Seat{word, std::move(arena), std::move(placement), crowded});
}

Team start(int argc, char** argv, const Options& options) {
    const char* seat = std::getenv(kSeatVariable);
    const auto word = seat == nullptr ? std::nullopt : parse_seat(seat);
    if (!word) {
        const std::vector<std::string> arguments(argv, argv + argc);
        const char* parent = std::getenv(kParentVariable);
        // A marked environment that was handed down (a member's child that starts a team) names another
        // process.
        if (parent == nullptr || std::to_string(getpid()) != parent) become_parent(arguments);
        const int status = look_after(arguments, options);
        std::fflush(nullptr);
        _exit(status);
    }
    unsetenv(kSeatVariable);  // programs that this member starts have no seat here
    if (getppid() != word->parent) end_alone();
    return take_seat(*word, come_to(*word));
}

int run(int argc, char** argv, const std::function<int(Team&)>& body, const Options& options) {
    try {
        Team team = start(argc, argv, options);
        try {
            return body(team);
        } catch (const MemberLost& lost) {
            // Of a death the parent knows more; of a member that left too early, nothing.
            if (!team.arena().failure().told()) leave_note(lost.what());
            throw;
        } catch (const Error& error) {
            leave_note(error.what());
            throw;
        } catch (const std::exception& exception) {
            leave_note(exception.what());
            throw;
        } catch (...) {
            leave_note("an exception of unknown type");
            throw;
        }
    } catch (const MemberLost&) {
        return kFailure;  // the parent has said who it was, once for all
    } catch (const Error& error) {
        std::fputs(error.text().c_str(), stderr);
        return error.exit_code();
    } catch (const std::exception& exception) {
        fmt::print(stderr, "strata: error: {}\n", exception.what());
        return kFailure;
    } catch (...) {
        fmt::print(stderr, "strata: error: an exception of unknown type\n");
        return kFailure;
    }
}

}  // namespace strata::team
