// The inputs of all stages of making a plan; none changes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/graph/expand/assign/assignment.hpp"
#include "core/graph/expand/assign/members.hpp"
#include "core/graph/expand/memory/copy.hpp"
#include "core/graph/expand/memory/memory.hpp"
#include "core/graph/expand/memory/stock.hpp"
#include "core/graph/expand/particles/relocate.hpp"
#include "core/graph/resolve/resolved.hpp"

namespace strata::graph::detail {

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr int kBranches = 8;  // of the tree of processes that reductions go along

/// The graph, declared and resolved, and the share of this process in it.
struct PlanInputs {
    const Graph& graph;
    const Resolved& resolved;
    const Assignment& assignment;
    const Members& members;
    const Memory& memory;
    int threads = 1;           // of this process
    std::uint64_t serial = 0;  // tells this plan from others
    bool past_caches = false;  // Here::past_caches
    // Calls read these when they run.
    const std::int64_t* steps_before = nullptr;
    const bool* measured = nullptr;
    std::vector<SumInPlace> sums_in_place;

    [[nodiscard]] const ResolvedTask& task(TaskId number) const { return resolved.tasks[number]; }
    [[nodiscard]] bool is(TaskId number, ResolvedTask::What what) const { return task(number).what == what; }
    /// Of a task with a body: its declaration.
    [[nodiscard]] const TaskInfo& info(TaskId number) const { return graph.tasks()[task(number).task]; }
    [[nodiscard]] bool runs(TaskId number, Runs how) const {
        return is(number, ResolvedTask::What::body) && info(number).runs == how;
    }
    /// Whether a task's function is called for a patch; and whether the patch has no operation of the task.
    [[nodiscard]] bool runs_on(TaskId number, int patch) const {
        return !is(number, ResolvedTask::What::body) || info(number).runs_on(patch);
    }
    [[nodiscard]] bool left_out(TaskId number, int patch) const {
        return is(number, ResolvedTask::What::body) && info(number).left_out(patch);
    }
    [[nodiscard]] const Use& use(TaskId of, int number) const {
        return info(of).uses[static_cast<std::size_t>(number)];
    }
    /// Of a combination or reduction: the label that it completes.
    [[nodiscard]] const LabelInfo& completed(TaskId number) const {
        return label(task(number).completed.label);
    }
    [[nodiscard]] const Storage& storage(StorageId number) const { return resolved.storages[number]; }
    [[nodiscard]] const LabelInfo& label(LabelId number) const { return graph.labels()[number]; }
    /// The label that gives a storage its shape.
    [[nodiscard]] const LabelInfo& label_of(StorageId number) const { return label(storage(number).label); }
    /// The family on whose patches a storage lies.
    [[nodiscard]] FamilyId family_of(StorageId number) const {
        const Relation* onto = storage(number).onto;
        return number_of(graph, onto != nullptr ? onto->target() : *label_of(number).family);
    }
    [[nodiscard]] const Grid& grid(FamilyId family) const {
        return static_cast<const Grid&>(*graph.families()[family]);
    }

    /// This process's patches of a family.
    [[nodiscard]] const std::vector<int>& patches(FamilyId family) const { return memory.patches()[family]; }
    [[nodiscard]] int owner(FamilyId family, int patch) const {
        return assignment.owner[family][static_cast<std::size_t>(patch)];
    }
    /// A patch's number among those of its process.
    [[nodiscard]] int local(FamilyId family, int patch) const {
        return assignment.local[family][static_cast<std::size_t>(patch)];
    }
    [[nodiscard]] bool is_mine(FamilyId family, int patch) const {
        return owner(family, patch) == members.rank;
    }
    [[nodiscard]] bool is_on_node(FamilyId family, int patch) const {
        return members.is_on_node(owner(family, patch));
    }
    /// A storage's values on one of this process's patches.
    [[nodiscard]] const PatchArray& own(StorageId number, int patch) const {
        return memory.own(number, local(family_of(number), patch));
    }

    [[nodiscard]] const Scope::Relocation& relocation(TaskId number) const {
        const ResolvedTask& of = task(number);
        return graph.scopes()[of.scope].relocations()[static_cast<std::size_t>(of.relocation)];
    }
    /// The most patches that a relocation of a set may move a particle by; 0: any number. Each relocation
    /// waits for all patches within so many: it uses the arrays of the set's relocation before.
    [[nodiscard]] int hops(SetId set) const {
        int most = 1;
        for (const Scope& scope : graph.scopes())
            for (const Scope::Relocation& each : scope.relocations())
                if (each.set == set) most = each.hops == 0 || most == 0 ? 0 : std::max(most, each.hops);
        return most;
    }
};

[[nodiscard]] inline Int3 negative(const Int3& shift) { return {-shift[0], -shift[1], -shift[2]}; }

[[nodiscard]] inline std::byte* room_for(Stock& stock, std::size_t bytes) {
    return reinterpret_cast<std::byte*>(stock.take<Line>((bytes + 63) / 64).data());
}

/// The geometry of a box's copy from an array to other strides; its addresses are worked out in each round.
[[nodiscard]] inline BoxCopy shape_of(const Box& box, const LabelInfo& of, const PatchArray& from,
                                      const Strides& to) {
    return {nullptr,
            nullptr,
            to,
            strides(from, of.bytes),
            extent_of(box),
            of.components,
            static_cast<std::uint32_t>(of.bytes)};
}

/// Entries of a patch's values as distances in an array, in values from the one at indices `first`. Lists
/// count the owned values of a field x fastest: of 4 x 4 values in rows of 6, entry 5 (row 1, column 1) is
/// at 7.
struct EntriesIn {
    Int3 first{};
    std::vector<std::int32_t> entries;
};
[[nodiscard]] inline EntriesIn entries_in(const LabelInfo& of, int patch, const PatchArray& array,
                                          std::vector<std::int32_t> entries) {
    if (of.kind != Kind::field) return {{}, std::move(entries)};
    const Box own = owned(of, patch);
    for (std::int32_t& entry : entries) {
        const int row = entry / own.extent(0);
        const Int3 at{entry % own.extent(0), row % own.extent(1), row / own.extent(1)};
        entry = static_cast<std::int32_t>(distance(array, at, 1));
    }
    return {own.lo, std::move(entries)};
}

/// Whether a use reads its neighbours' values around its own.
[[nodiscard]] inline bool is_in_place(const Use& use) {
    return use.access == Access::need && use.relation == nullptr && use.width != Int3{};
}

/// Whether a use of a task writes. Of combinations and reductions the first one does.
[[nodiscard]] inline bool writes(const PlanInputs& in, TaskId task, std::size_t use) {
    if (!in.is(task, ResolvedTask::What::body)) return use == 0;
    const Access access = in.info(task).uses[use].access;
    return access == Access::make || access == Access::modify || access == Access::sum;
}

}  // namespace strata::graph::detail
