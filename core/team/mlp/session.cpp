#include "core/team/mlp/session.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "core/team/seats.hpp"

namespace strata::team::mlp {
namespace {

thread_local std::string last_error;

std::string without_last_end(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

/// `said`: somebody else prints it.
int give_up(int code, int status, const std::string& text, const char* reason, bool said, bool may_return) {
    last_error = without_last_end(text);
    if (may_return && session().errors_return) return code;
    if (!said) fmt::print(stderr, "{}\n", last_error);
    if (reason != nullptr) leave_note(reason);
    flush_all();
    // Handlers of exit() belong to a program that has come to its end.
    _exit(status);
}

}  // namespace

Session& session() {
    // Never destroyed: a member that just returns from main() has not left its team in good order.
    static auto* const the_one = new Session;
    return *the_one;
}

Team& team_for(const char* call) {
    if (!session().team)
        throw Error(fmt::format("{} needs a team, and this process is not in one", call))
            .remedy("mlp_start() first of all in main(), or FORKIT; nothing after mlp_finish()");
    return *session().team;
}

std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string all{std::istreambuf_iterator<char>(file), {}};
    std::vector<std::string> words;
    for (std::size_t at = 0; at < all.size();) {
        const std::size_t end = std::min(all.find('\0', at), all.size());
        words.push_back(all.substr(at, end - at));
        at = end + 1;
    }
    if (words.empty())
        throw Error("this process' arguments cannot be read", kFailure).at("/proc/self/cmdline");
    return words;
}

void flush_all() {
    std::fflush(nullptr);
    if (void* flush = dlsym(RTLD_DEFAULT, "_gfortran_flush_i4"); flush != nullptr)
        reinterpret_cast<void (*)(int*)>(flush)(nullptr);  // null: all units
}

void leave_note(const char* reason) {
    if (!session().team) return;
    Team& team = *session().team;
    Note& note = static_cast<Note*>(team.arena().find(kNotesArray))[team.rank()];
    std::snprintf(note.text, sizeof note.text, "%s", reason);
}

int failed(bool may_return) {
    try {
        throw;
    } catch (const MemberLost& lost) {
        // Of a death the parent knows more than this member; of one that left too early, nothing.
        const bool told = session().team && session().team->arena().failure().told();
        return give_up(MLP_LOST, kFailure, lost.what(), told ? nullptr : lost.what(), true, may_return);
    } catch (const Error& error) {
        return give_up(MLP_ERROR, error.exit_code(), error.text(), error.what(), false, may_return);
    } catch (const std::exception& exception) {
        return give_up(MLP_ERROR, kFailure, fmt::format("strata: error: {}", exception.what()),
                       exception.what(), false, may_return);
    }
}

}  // namespace strata::team::mlp

const char* mlp_error(void) { return strata::team::mlp::last_error.c_str(); }
