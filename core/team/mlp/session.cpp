#include "core/team/mlp/session.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "core/team/notes.hpp"

namespace strata::team::mlp {
namespace {

thread_local std::string last_error;

std::string without_last_end(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
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

void end_with(const Reason& reason) {
    // The run's parent knows more about a death than this member, but nothing about a member that left too
    // early.
    const bool known = reason.lost && session().team && session().team->arena().failure().told();
    if (session().team && !known)
        session().team->note().leave(reason.text, reason.details, !reason.lost);
    else if (!session().team && !reason.text.empty())
        std::fputs(reason.said().c_str(), stderr);
    flush_all();
    // Without the handlers of exit(): they are for a program that ends in good order.
    _exit(reason.status);
}

int failed(bool may_return) {
    const Reason reason = reason_of_exception();
    last_error = without_last_end(reason.lost ? reason.text : reason.said());
    if (!may_return || !session().errors_return) end_with(reason);
    return reason.lost ? MLP_LOST : MLP_ERROR;
}

}  // namespace strata::team::mlp

const char* mlp_error(void) { return strata::team::mlp::last_error.c_str(); }
