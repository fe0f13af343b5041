// This process's part of its team, for callers that cannot hold an object: C, Fortran and the routines of
// MLPlib.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "core/team/mlp/include/strata/mlp.h"
#include "core/team/notes.hpp"
#include "core/team/team.hpp"

namespace strata::team::mlp {

struct Session {
    std::unique_ptr<Team> team;
    /// The arena of GETMEM before FORKIT has made a team.
    std::optional<Arena> before;
    bool errors_return = false;
};
[[nodiscard]] Session& session();

/// This process's team. Throws Error that names `call` when there is none.
[[nodiscard]] Team& team_for(const char* call);

/// The arguments of this process, from the system. Throws Error.
[[nodiscard]] std::vector<std::string> own_arguments();

/// Flushes the buffers of stdio and, where it is loaded, of gfortran's library.
void flush_all();

/// Ends this process. The message is left for the run's parent, or printed where there is none.
[[noreturn]] void end_with(const Reason& reason);

/// To be called in a catch block. Keeps the error's text for mlp_error() and returns its code, or ends the
/// process, by the session's setting. `may_return` false: ends it in any case.
int failed(bool may_return = true);

/// Runs the body of a call from C; returns its code.
template <class Call>
int answer(Call&& call) noexcept {
    try {
        call();
        return MLP_OK;
    } catch (...) {
        return failed();
    }
}

}  // namespace strata::team::mlp
