#include "core/team/ending.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "core/launch/process_tree.hpp"
#include "core/team/failure.hpp"
#include "core/team/seats.hpp"

namespace strata::team {
namespace {

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

std::string how_it_ended(int status, const char* note) {
    std::string how = WIFSIGNALED(status) ? "was killed by " + name_of(WTERMSIG(status))
                      : status != 0       ? fmt::format("exited with status {}", WEXITSTATUS(status))
                                          : "ended with status 0 but did not leave its team in good order";
    if (note != nullptr && note[0] != '\0') how += fmt::format(": {}", note);
    return how;
}

}  // namespace

MemberEnd member_end(int status, const Arena* arena, int rank) {
    MemberEnd end;
    if (arena != nullptr) {
        if (const auto* notes = static_cast<const Note*>(arena->find(kNotesArray))) end.note = notes + rank;
        const auto* departures = static_cast<const Departures*>(arena->find(kDeparturesArray));
        end.in_order = status == 0 && departures != nullptr && departures->left(rank);
    }
    end.how = how_it_ended(status, end.note == nullptr ? "" : end.note->text());
    return end;
}

int failing_status(int status) { return std::max(1, launch::exit_status(status)); }

}  // namespace strata::team
