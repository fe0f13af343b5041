// The places of a team's threads: the first member of each, and its distance from each member.
#pragma once

#include <cstdint>
#include <vector>

#include "core/launch/layout.hpp"

namespace strata::machine {
struct Machine;
}

namespace strata::team {

/// A place is a position for one awake thread: a core of the layout, or a share of the machine when the
/// layout binds nothing. Places are counted through all members, thread by thread.
struct CrewPlaces {
    int members = 1;
    /// [place] -> the member that has it at first. A member's first place is its home: the thread that leads
    /// its regions is there, and the home never changes its member.
    std::vector<int> owner;
    /// [member * places + place] -> its distance from that member's home, by core_distance(); empty: all
    /// alike.
    std::vector<std::uint8_t> distance;

    [[nodiscard]] int places() const { return static_cast<int>(owner.size()); }
    /// `members` members with `threads` places each, all alike.
    [[nodiscard]] static CrewPlaces even(int members, int threads);
};

/// The places of a placement on a machine. A place of several PUs counts as its first one.
[[nodiscard]] CrewPlaces crew_places(const machine::Machine& machine, const launch::Placement& placement);

/// The distance of one PU (by the system's number) from another:
///   0          on one core
///   1 to 4     level of the smallest cache that both share
///   8          in one memory domain
///   9          on one die
///   16 + d     else; d is the distance between the memories as the firmware states it (10: local)
///   26 or 36   else, where the firmware states none: in one package, or outside
///   255        a PU that the machine does not have
[[nodiscard]] std::uint8_t core_distance(const machine::Machine& machine, int from, int to);

}  // namespace strata::team
