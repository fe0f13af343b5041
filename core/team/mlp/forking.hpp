// FORKIT: the only place where a process is forked that has run other code before.
#pragma once

#include <cstdint>

#include "core/team/arena.hpp"

namespace strata::team::mlp {

/// Lays out a team of `members` members in the arena, which becomes theirs, and forks them. Returns in the
/// members only, with the number of each. The team is then the session's, and is left when the process exits
/// with status 0. The original process watches the members and ends with their status. Throws Error, in the
/// original process, when there is a team already, when threads that a fork does not copy cannot be ended, or
/// when the layout does not fit.
int fork_members(std::int64_t members, Arena& arena);

}  // namespace strata::team::mlp
