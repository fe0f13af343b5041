// The places of a team's threads: whose each is at first, and how near it is to each member.
#pragma once

#include <cstdint>
#include <vector>

#include "core/launch/layout.hpp"

namespace strata::machine {
struct Machine;
}

namespace strata::team {

/// A place is where one thread may be awake: a core of the layout, or a part of whatever there is when the
/// layout binds nothing. Places are counted through all members, thread by thread.
struct CrewPlaces {
    int members = 1;
    /// [place] -> the member that has it at first. A member's first place is its home: where the thread that
    /// leads its regions is, and the only one that never goes.
    std::vector<int> owner;
    /// [member * places + place] -> how far it is from that member's home, by core_distance(); empty: all
    /// alike.
    std::vector<std::uint8_t> distance;

    [[nodiscard]] int places() const { return static_cast<int>(owner.size()); }
    /// So many members with so many places each, all alike.
    [[nodiscard]] static CrewPlaces even(int members, int threads);
};

/// The places of a placement on a machine. A place of several PUs counts as its first one.
[[nodiscard]] CrewPlaces crew_places(const machine::Machine& machine, const launch::Placement& placement);

/// The distance of one PU (by the system's number) from another: 0 on one core, 1 to 4 where caches of level
/// 1 to 4 are the smallest that both share, 8 in one memory domain, 9 on one die, and beyond that 16 and the
/// distance between the memories as the firmware states it (10: local), or 26 in one package and 36 outside
/// where it says nothing. 255 for a PU that the machine does not have.
[[nodiscard]] std::uint8_t core_distance(const machine::Machine& machine, int from, int to);

}  // namespace strata::team
