// The end of a member, in words and as an exit status.
#pragma once

#include <chrono>
#include <string>

#include "core/team/arena.hpp"
#include "core/team/notes.hpp"

namespace strata::team {

/// The time that members have for their last words when they are told of a death, or to end.
inline constexpr auto kGrace = std::chrono::seconds(2);

/// The end of a member, from its status as of waitpid(2) and what it left in the arena (null: it never had
/// one). `rank`: of those that share the arena.
struct MemberEnd {
    bool in_order = false;       // it left its team, with status 0
    std::string how;             // "was killed by SIGKILL", "exited with status 7"
    const Note* note = nullptr;  // what it left to be said; lies in the arena
};
[[nodiscard]] MemberEnd member_end(int status, const Arena* arena, int rank);

/// As shells give it: 128 + signal, or the status; never 0.
[[nodiscard]] int failing_status(int status);

}  // namespace strata::team
