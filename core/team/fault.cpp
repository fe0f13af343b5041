#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "core/team/arena.hpp"
#include "core/team/notes.hpp"

namespace strata::team {
namespace {

std::atomic<const Arena*> watched{nullptr};
Note* note_to = nullptr;
struct sigaction before {};

constexpr std::string_view kEnd = "\n";
constexpr std::string_view kRemedy =
    "  try: a larger limit (cgroup, batch system), smaller arrays, or look for an index out of range\n";

void say(int, siginfo_t* info, void*) {
    const Arena* arena = watched.load();
    if (arena != nullptr && arena->contains(info->si_addr)) {
        char what[160], line[192];
        arena->describe(info->si_addr, what, sizeof what);
        const auto end =
            fmt::format_to_n(line, sizeof line, "no memory for a page of {}", static_cast<const char*>(what));
        const std::string_view text(line, static_cast<std::size_t>(end.out - line));
        if (note_to != nullptr) {
            note_to->leave(text, kRemedy);
        } else {
            for (const std::string_view part : {std::string_view("strata: error: "), text, kEnd, kRemedy})
                [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, part.data(), part.size());
        }
    }
    // The instruction is tried again, faults again, and ends the process as it would have without this
    // handler.
    sigaction(SIGBUS, &before, nullptr);
}

}  // namespace

void explain_faults(const Arena& arena, Note* note) {
    note_to = note;
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
