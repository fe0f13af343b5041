// Members to measure with: processes over an arena, as a team has them, or threads of this process.
#pragma once

#include <functional>
#include <vector>

#include "core/team/arena.hpp"

namespace strata::bench::team_layer {

/// The PUs for so many members, one of each core in turn: with more members than cores several share one.
[[nodiscard]] std::vector<int> pus_for(int members);
/// How many cores this process may use.
[[nodiscard]] int usable_cores();

/// Runs work(member) in as many processes, each bound to its PU, over what is shared: this process is member
/// 0, the others are forked, so that it must not have started threads. They end with this process; one that
/// fails tells the arena's failure word. Throws Error when one failed.
void in_processes(int members, team::Arena& arena, const std::function<void(int)>& work);

/// The same in threads.
void in_threads(int members, const std::function<void(int)>& work);

}  // namespace strata::bench::team_layer
