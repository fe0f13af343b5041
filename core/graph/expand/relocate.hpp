// Relocation: particles go to the patches in which they are. For each patch two operations:
//
//   leave   finds which particles go where (and which are deleted), takes positions back into the domain
//   across
//           periodic borders, and tells the others;
//   arrive  puts who stays and who comes in order of cell (x fastest) and id, straight out of the arrays of
//           the patches in which they were, into this patch's other arrays, and changes to those.
//
// What leave tells is kept twice, in turn. So no operation but arrive waits for other patches: when leave
// writes what it told two rounds before, or arrive the arrays of one round before, all who read those have
// left since. Where any number of patches may be crossed, an operation of each process lists who goes where
// (gather).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/particles.hpp"

namespace strata::graph {

struct Leaver {
    std::int32_t to, at;  // patch, place in the arrays
};

/// What a patch tells the others, in memory that all members of the node read.
struct Departures {
    ParticleArrays from;
    Leaver* leavers = nullptr;  // by patch
    std::int64_t count = 0, capacity = 0;
};

/// What a process tells the others where any number of patches may be crossed.
struct Departing {
    struct Entry {
        std::int32_t to, padding;
        const Departures* from;
        std::int64_t first, count;
    };
    Entry* entries = nullptr;  // by patch
    std::int64_t count = 0, capacity = 0;
};

/// A patch that particles may come from or go to, and by how much its indices are shifted there (across
/// periodic borders).
struct Nearby {
    std::int32_t patch = -1;
    Int3 shift{};
    friend auto operator<=>(const Nearby&, const Nearby&) = default;
};
/// All that are at most `hops` patches away, ascending; the patch itself among them.
[[nodiscard]] std::vector<Nearby> nearby(const Grid& grid, int patch, int hops);

/// In which cell a position is: what the solver's kernels and the relocation agree on.
struct Cells {
    std::array<double, 3> origin{}, spacing{}, inverse{};
    int directions = 3;

    explicit Cells(const GridShape& shape);
    Cells() = default;
    [[nodiscard]] double of(std::size_t axis, double position) const;
};

/// One relocation of a set, for all patches of the process.
struct RelocationOf {
    const ParticleSet* set = nullptr;
    const LabelInfo* position_label = nullptr;
    Cells cells;
    ParticleColumn position, id;
    std::span<const ParticleColumn> moved;
    int hops = 1;
    std::uint16_t scope = 0;
    const std::int64_t* steps_before = nullptr;  // null: the start
    Populations* all = nullptr;
};

struct LeaveCall {
    const RelocationOf* of = nullptr;
    int patch = -1;
    Box box;  // its cells
    ParticlePatch* here = nullptr;
    Departures* told = nullptr;       // [2]
    std::span<const Nearby> reach;    // empty: everywhere
    std::vector<std::uint32_t> keys;  // [particle]: its cell in the box; kGone: no longer here
    std::int64_t gone = 0;

    static constexpr std::uint32_t kGone = 0xffffffffU;
    static Outcome go(void* what, Worker& worker);
};

struct GatherCall {
    const RelocationOf* of = nullptr;
    std::span<const Departures* const> patches;  // each [2]
    Departing* told = nullptr;                   // [2]
    static Outcome go(void* what, Worker& worker);
};

struct ArriveCall {
    const RelocationOf* of = nullptr;
    LeaveCall* own = nullptr;
    std::span<const Departures* const> from;  // each [2], of the patches nearby but this one;
    std::span<const Departing* const> all;    // or of the processes
    static Outcome go(void* what, Worker& worker);
};

}  // namespace strata::graph
