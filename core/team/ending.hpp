// The end of a member, as text and as an exit status.
#pragma once

#include <chrono>
#include <string>

#include "core/team/arena.hpp"
#include "core/team/notes.hpp"

namespace strata::team {

/// The time for members' last messages after they are told of a death, or to end.
inline constexpr auto kGrace = std::chrono::seconds(2);

/// The end of a member, from its status as of waitpid(2) and its traces in the arena (null: it never had
/// one). `rank`: among those that share the arena.
struct MemberEnd {
    bool in_order = false;       // it left its team, with status 0
    std::string how;             // "was killed by SIGKILL", "exited with status 7"
    const Note* note = nullptr;  // its last message; lies in the arena
};
[[nodiscard]] MemberEnd member_end(int status, const Arena* arena, int rank);

/// As in shells: 128 + signal, or the status; never 0.
[[nodiscard]] int failing_status(int status);

}  // namespace strata::team
