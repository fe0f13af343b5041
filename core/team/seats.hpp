// What the parent of a team lays out in the arena for its members, and the word by which it tells each its
// seat.
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

/// Arrays of the arena that the library keeps for itself.
inline constexpr const char* kFactsArray = "strata/facts";
inline constexpr const char* kPlacementArray = "strata/placement";
inline constexpr const char* kNotesArray = "strata/notes";
inline constexpr const char* kDeparturesArray = "strata/departures";
inline constexpr const char* kBarrierArray = "strata/barrier";
inline constexpr const char* kCollectivesArray = "strata/collectives";
inline constexpr const char* kCrewsArray = "strata/crews";
inline constexpr const char* kNodeExchangeArray = "strata/exchange";

/// Holds the seat of a member, in its environment.
inline constexpr const char* kSeatVariable = "STRATA_TEAM_SEAT";
/// Marks the fresh start that becomes the parent.
inline constexpr const char* kParentVariable = "STRATA_TEAM_PARENT";
/// Holds what a member that an MPI launcher started needs to know, in its environment.
inline constexpr const char* kRankVariable = "STRATA_TEAM_RANK";
/// Set by `strata launch`: the placement that it has chosen, see launch::encode().
inline constexpr const char* kPlacementVariable = "STRATA_TEAM_PLACEMENT";

struct Facts {
    std::int32_t processes = 1, threads = 1, stride = 1, bind = 0;
    std::int32_t crowded = 0;
};

/// Which member this is, and how it comes to the arena.
struct SeatWord {
    int rank = 0, size = 1;
    int arena = -1, line = -1;  // descriptors: the arena's, the line to the parent
    int parent = 0;             // its process number
    std::uint64_t capacity = 0;
};
[[nodiscard]] std::string to_text(const SeatWord& word);
[[nodiscard]] std::optional<SeatWord> parse_seat(const std::string& text);

/// Which members share a cache and a domain, by their first PU.
[[nodiscard]] Neighbourhood neighbourhood(const machine::Machine& machine,
                                          const launch::Placement& placement);

/// Makes and fills the arrays above. `placement`: of the whole team; `near`: of those that share this arena.
/// `crowded`: members share cores. `first_rank`: of the first member here; `nodes`: over which the team
/// reaches.
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

/// A member's side of its team, in an arena that is laid out and lies where it does in all others.
[[nodiscard]] Team take_seat(const SeatWord& word, Arena&& arena);

}  // namespace strata::team
