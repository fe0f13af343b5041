// FORKIT: the one place where a process that has run already is forked.
#pragma once

#include <cstdint>

#include "core/team/arena.hpp"

namespace strata::team::mlp {

/// Lays out a team of so many members in the arena, which becomes theirs, and forks them. Returns in the
/// members only, with the number of each; the team is the session's then, and is left when the process exits
/// with status 0. The original process looks after them and ends with their status. Throws Error, in the
/// original process, when there is a team already, when threads that no fork takes along cannot be ended, or
/// when the layout does not fit.
int fork_members(std::int64_t members, Arena& arena);

}  // namespace strata::team::mlp
