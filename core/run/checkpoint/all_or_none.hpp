// Actions of all members that succeed or fail together: files that several of them write.
#pragma once

#include <algorithm>
#include <exception>

#include "core/team/failure.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// Calls `part` in each member and waits for all. If it throws in any of them, member 0 calls `undo` after
/// all have finished, and the error of the first such member ends the run: one error, however many members
/// found the disk full. Collective; `part` must not be.
template <class Part, class Undo>
void all_or_none(team::Team& team, Part part, Undo undo) {
    std::exception_ptr mine;
    try {
        part();
    } catch (const team::MemberLost&) {
        throw;
    } catch (...) {
        mine = std::current_exception();
    }
    const int failed =
        team.together().reduce(mine ? team.rank() : team.size(), [](int a, int b) { return std::min(a, b); });
    if (failed == team.size()) return;
    if (team.rank() == 0) undo();
    team.barrier();
    if (failed == team.rank()) std::rethrow_exception(mine);
    team.barrier();  // ends with that member
}

/// The same with a `part` for member 0 only.
template <class Part, class Undo>
void first_or_none(team::Team& team, Part part, Undo undo) {
    all_or_none(
        team,
        [&] {
            if (team.rank() == 0) part();
        },
        undo);
}

}  // namespace strata::graph
