// The call of a task on a patch. What all calls of a task have in common is kept once (CallShape): a call
// itself is some ten words, and what a task sees is put together when it is called.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "core/graph/declare/graph.hpp"
#include "core/graph/execute/worker.hpp"
#include "core/graph/expand/calls/calls.hpp"
#include "core/graph/expand/memory/objects.hpp"
#include "core/graph/expand/particles/particle_halo.hpp"
#include "core/graph/expand/particles/particles.hpp"

namespace strata::graph {

/// A box as distances of its corners from those of the patch's cells: those of ghosts, and of layers that are
/// not there beyond a wall.
struct BoxAround {
    std::array<std::int8_t, 3> lo{}, hi{};

    [[nodiscard]] Box of(const Box& cells) const {
        Box box = cells;
        for (std::size_t a = 0; a < 3; ++a) box.lo[a] += lo[a], box.hi[a] += hi[a];
        return box;
    }
    /// None where a distance is too large.
    [[nodiscard]] static std::optional<BoxAround> from(const Box& cells, const Box& box);
    friend bool operator==(const BoxAround&, const BoxAround&) = default;
};

/// What the calls of a task have in common, on patches of one block of memory or of the same shape.
struct CallShape {
    static constexpr std::uint32_t kAbsolute = 0xffffffff;
    /// A use whose origin is not in `uses`: it depends on the round, or lies at an address of the call's own
    /// (then the base counts from there).
    struct UseAddress {
        std::uint32_t use = 0, own = kAbsolute;  // own: number in TaskCall::own()
        RoundAddress address;
        friend bool operator==(const UseAddress&, const UseAddress&) = default;
    };
    /// A use of a field: distances of values in its block, and the origin, where that is not an address.
    struct UseInBlock {
        std::uint32_t use = 0;
        std::byte* origin = nullptr;
        std::int64_t y = 0, z = 0, component = 0;
        friend bool operator==(const UseInBlock&, const UseInBlock&) = default;
    };
    /// A contribution to a scalar lies so many bytes from an address of the call's own. It gets the
    /// reduction's neutral element before each call.
    struct ScalarContribution {
        std::uint32_t use = 0, own = 0, bytes = 0;
        const LabelInfo* label = nullptr;
        friend bool operator==(const ScalarContribution&, const ScalarContribution&) = default;
    };
    const TaskInfo* task = nullptr;
    const Family* family = nullptr;              // null: of the process
    const Box* cells = nullptr;                  // of a grid: [local] of its patches
    Populations* populations = nullptr;          // where the task may create particles
    const std::int64_t* steps_before = nullptr;  // steps that were done before this plan; null: the start
    const std::int64_t* round_base = nullptr;    // of a repeat: the epoch after which it last began
    const bool* measured = nullptr;              // calls are timed now
    std::int64_t most = 1;                       // rounds of its scope
    std::uint16_t scope = 0;
    bool past_caches = false;
    std::uint32_t owns = 0;         // addresses of a call's own
    std::span<const UseData> uses;  // what all blocks have in common; the other lists add to it
    std::span<const UseInBlock> in_block;
    std::span<const UseAddress> addresses;  // first those that depend on the round alone:
    std::uint32_t of_round = 0;             // so many
    std::span<const std::uint32_t> boxed;   // uses whose boxes are each call's (TaskCall::boxes())
    std::span<const ScalarContribution> scalars;
};

/// What few tasks have.
struct CallExtras {
    /// A use of particles: their number and place change from round to round.
    struct ParticleView {
        std::uint32_t use = 0;
        const ParticleColumn* column = nullptr;
        ParticlePatch* patch = nullptr;
    };
    std::span<UseData> room;  // in place of the thread's: of many uses, and of those that a copy is made for
    std::span<const ParticleView> particle_views;
    std::span<const HaloRead> halo_reads;
    std::span<const HaloSum> halo_sums;
    std::span<const ValueCopy> collects;  // windows and lists that other patches' values are copied to
    std::span<const Clear> clears;        // windows of contributions
    std::span<ObjectMade* const> made;    // objects that the task makes
    std::span<const CallData::MovedOfSet> moves;
    std::span<Here> all_own;  // of a task of the whole team
    std::span<const CallData::Own> owns;
};

/// A task on a patch. Behind it lie its own addresses, then its boxes.
struct TaskCall {
    /// So many uses lie in memory of the thread while a task runs.
    static constexpr std::size_t kInThread = 24;
    const CallShape* shape = nullptr;
    const CallExtras* more = nullptr;  // null: nothing of that
    std::int32_t patch = -1;           // of a task of the team: the process
    float seconds = 0;                 // CPU time of the calls that were timed
    std::uint32_t local : 31 = 0;      // the patch's number in this process
    std::uint32_t under_way : 1 = 0;

    [[nodiscard]] static std::size_t bytes(std::size_t owns, std::size_t boxes) {
        return sizeof(TaskCall) + owns * sizeof(std::byte*) + boxes * sizeof(BoxAround);
    }
    [[nodiscard]] std::span<std::byte*> own() {
        return {reinterpret_cast<std::byte**>(this + 1), shape->owns};
    }
    [[nodiscard]] std::span<std::byte* const> own() const {
        return {reinterpret_cast<std::byte* const*>(this + 1), shape->owns};
    }
    [[nodiscard]] std::span<BoxAround> boxes() {
        return {reinterpret_cast<BoxAround*>(own().data() + shape->owns), shape->boxed.size()};
    }
    [[nodiscard]] std::span<const BoxAround> boxes() const {
        return {reinterpret_cast<const BoxAround*>(own().data() + shape->owns), shape->boxed.size()};
    }
    /// What the task sees by each use, but for particles, in buffers 0. For tests.
    void show(UseData* data) const;
    static Outcome go(void* what, Worker& worker);
    static void create(void* calling, SetId set, std::int64_t count);
    /// What the task declares for the patch, but for particles.
    [[nodiscard]] OpWork work() const;
};
static_assert(sizeof(TaskCall) == 32 && alignof(TaskCall) == alignof(std::byte*));

}  // namespace strata::graph
