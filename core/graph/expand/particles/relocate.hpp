// Relocation: particles go to the patches in which they are. For each patch two operations:
//
//   leave   finds the particles that leave, and their new patches. Takes positions back into the domain
//           across periodic borders. Drops deleted particles. Shows copies of the leavers to other patches.
//   arrive  puts stayers and arrivals in order of cell (x fastest) and id. It copies them to other
//           arrays, and gives back those in which they were.
//
// Tasks may name the particles that are no longer in their cells (Task::moves). Then leave looks at those
// alone, and arrive moves the others in place.
//
// A patch's list of leavers exists twice: rounds 1, 3, 5 use one, rounds 2, 4, 6 the other. So only arrive
// waits for other patches. When round 3 writes the list of round 1, its readers are done with it: this
// patch's arrive of round 2 has waited for their leave of round 2. Where particles may cross any number of
// patches, one more operation of each process lists all of its leavers (gather).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/particles/particles.hpp"

namespace strata::graph {

struct Leaver {
    std::int32_t to, at;  // patch, place in the arrays
};

/// A patch's leavers, in memory that all members of the node read.
struct PatchLeavers {
    ParticleArrays from;        // copies: of its own, or in a message
    Leaver* leavers = nullptr;  // by patch
    std::int64_t count = 0, capacity = 0;
};

/// A process's leavers, where any number of patches may be crossed.
struct ProcessLeavers {
    struct Entry {
        std::int32_t to, padding;
        const PatchLeavers* from;
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

/// The cell of a position. Solvers' kernels and the relocation compute it in the same way. Of positions
/// beyond a border behind which the patches own all, the cell at the border.
struct Cells {
    Real3 origin{}, spacing{}, inverse{};
    int directions = 3;
    bool open = false;          // whether there is such a border
    Real3 lowest{}, highest{};  // the cells at these; infinite where a border is none

    Cells(const GridShape& shape, Beyond beyond);
    Cells() = default;
    [[nodiscard]] double of(std::size_t axis, double position) const;
    [[nodiscard]] double owned(std::size_t axis, double cell) const;
};

/// One relocation of a set, for all patches of the process.
struct SetRelocation {
    const ParticleSet* set = nullptr;
    const LabelInfo* position_label = nullptr;
    Cells cells;
    ParticleColumn position, id;
    std::span<const ParticleColumn> moved;
    int hops = 1;
    std::uint16_t scope = 0;
    bool movers_named = false;                   // tasks say which particles are no longer in their cells
    const std::int64_t* steps_before = nullptr;  // null: the start
    Populations* all = nullptr;
};

struct LeaveCall {
    const SetRelocation* of = nullptr;
    int patch = -1;
    Box box;  // its cells
    ParticlePatch* here = nullptr;
    PatchLeavers* leavers = nullptr;  // [2]
    std::span<const Nearby> reach;    // empty: everywhere
    std::vector<std::uint32_t> keys;  // [particle]: its cell in the box; kGone: no longer here
    std::int64_t gone = 0;

    /// The particles that tasks named. `listed`: they named few this round; then `out` and `movers` are used
    /// in place of `keys`.
    Moved* moved = nullptr;
    bool listed = false;
    std::vector<std::int32_t> out;  // particles to be taken out of their places, ascending
    struct Mover {
        std::int32_t at;
        std::uint32_t key;
    };
    std::vector<Mover> movers;  // those of them that stay in the patch

    static constexpr std::uint32_t kGone = 0xffffffffU;
    static Outcome go(void* what, Worker& worker);
};

struct GatherCall {
    const SetRelocation* of = nullptr;
    std::span<const PatchLeavers* const> patches;  // each [2]
    ProcessLeavers* leavers = nullptr;             // [2]
    static Outcome go(void* what, Worker& worker);
};

/// A particle that comes: its present place, its id, its cell in the box, and its place here.
struct Arrival {
    const ParticleArrays* from;
    std::int64_t id;
    std::int32_t at;
    std::uint32_t key;
    std::uint32_t to;
};

struct ArriveCall {
    const SetRelocation* of = nullptr;
    LeaveCall* own = nullptr;
    std::span<const PatchLeavers* const> from;   // each [2], of the patches nearby but this one;
    std::span<const ProcessLeavers* const> all;  // or of the processes
    static Outcome go(void* what, Worker& worker);

    /// Adds arrivals from other patches, in any order.
    void collect(std::uint32_t buffer, std::vector<Arrival>& arrivals) const;
    /// Of a round whose leave was `listed`: takes out leavers and puts in arrivals.
    void merge(std::uint32_t buffer) const;
    [[nodiscard]] Error too_many(std::int64_t count) const;
    [[nodiscard]] Error twice(std::int64_t id) const;
};

}  // namespace strata::graph
