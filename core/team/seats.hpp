// The arrays that the parent of a team makes in the arena for its members, and the word by which it tells
// each member its seat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/launch/placement.hpp"
#include "core/team/arena.hpp"
#include "core/team/barrier.hpp"
#include "core/team/notes.hpp"

namespace strata::machine {
struct Machine;
}

namespace strata::team {

class Team;

/// Names of the arena's arrays for the library's own use.
inline constexpr const char* kFactsArray = "strata/facts";
inline constexpr const char* kPlacementArray = "strata/placement";
inline constexpr const char* kNotesArray = "strata/notes";
inline constexpr const char* kDeparturesArray = "strata/departures";
inline constexpr const char* kBarrierArray = "strata/barrier";
inline constexpr const char* kCollectivesArray = "strata/collectives";
inline constexpr const char* kCrewsArray = "strata/crews";
inline constexpr const char* kNodeExchangeArray = "strata/exchange";

/// Environment variable with the seat of a member.
inline constexpr const char* kSeatVariable = "STRATA_TEAM_SEAT";
/// Environment variable that marks the new start of the program that becomes the parent.
inline constexpr const char* kParentVariable = "STRATA_TEAM_PARENT";
/// Environment variable with the data for a member that an MPI launcher started.
inline constexpr const char* kRankVariable = "STRATA_TEAM_RANK";
/// Environment variable set by `strata launch`: the chosen placement, see launch::encode().
inline constexpr const char* kPlacementVariable = "STRATA_TEAM_PLACEMENT";

struct Facts {
    std::int32_t processes = 1, threads = 1, stride = 1, bind = 0;
    std::int32_t crowded = 0;
};

/// The number of a member, and its access to the arena.
struct SeatWord {
    int rank = 0, size = 1;
    int arena = -1, line = -1;  // descriptors: the arena's, the line to the parent
    int parent = 0;             // its process number
    std::uint64_t capacity = 0;
};
[[nodiscard]] std::string to_text(const SeatWord& word);
[[nodiscard]] std::optional<SeatWord> parse_seat(const std::string& text);

/// The members that share a cache and a domain, by their first PU.
[[nodiscard]] Neighbourhood neighbourhood(const machine::Machine& machine,
                                          const launch::Placement& placement);

/// Makes and fills the arrays above. `placement`: of the whole team; `near`: of the members that share this
/// arena. `crowded`: members share cores. `first_rank`: of the first member here; `nodes`: of the team.
void lay_out(Arena& arena, const launch::Placement& placement, const Neighbourhood& near, bool crowded,
             int first_rank = 0, int nodes = 1);

/// Whether a layout has more threads than so many cores.
[[nodiscard]] bool is_crowded(const launch::Layout& layout, long cores);

/// The facts that a member reads: the placement of all, and whether members share cores.
struct ReadFacts {
    launch::Placement placement;
    bool crowded = false;
};
[[nodiscard]] ReadFacts read_facts(const Arena& arena);

/// A member's part of its team, in an arena that is laid out and mapped at the same address in all members.
[[nodiscard]] Team take_seat(const SeatWord& word, Arena&& arena);

}  // namespace strata::team
