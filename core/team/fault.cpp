#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

#include "core/team/arena.hpp"

namespace strata::team {
namespace {

std::atomic<const Arena*> watched{nullptr};
char* note_to = nullptr;
std::size_t note_room = 0;
struct sigaction before {};

void say(int, siginfo_t* info, void*) {
    const Arena* arena = watched.load();
    if (arena != nullptr && arena->contains(info->si_addr)) {
        char what[160], line[320];
        arena->describe(info->si_addr, what, sizeof what);
        const auto end = fmt::format_to_n(line, sizeof line - 1,
                                          "strata: error: no memory for a page of {}\n"
                                          "  try: a larger limit (cgroup, batch system), smaller arrays, or "
                                          "look for an index out of range\n",
                                          static_cast<const char*>(what));
        [[maybe_unused]] const ssize_t n =
            write(STDERR_FILENO, line, static_cast<std::size_t>(end.out - line));
        if (note_to != nullptr) {
            const auto stop = fmt::format_to_n(note_to, note_room - 1, "no memory for a page of {}",
                                               static_cast<const char*>(what));
            *stop.out = '\0';
        }
    }
    // The instruction is tried again, faults again, and ends the process as it would have without us.
    sigaction(SIGBUS, &before, nullptr);
}

}  // namespace

void explain_faults(const Arena& arena, char* note, std::size_t note_size) {
    note_to = note;
    note_room = note_size;
    if (watched.exchange(&arena) != nullptr) return;  // the handler is there
    struct sigaction action {};
    action.sa_sigaction = say;
    action.sa_flags = SA_SIGINFO;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}

void explain_no_faults() {
    if (watched.exchange(nullptr) == nullptr) return;
    sigaction(SIGBUS, &before, nullptr);
    note_to = nullptr;
}

}  // namespace strata::team
