// Makes a Plan, in this order: operations and their threads (numbering.cpp), flags that the others can see
// (flags.cpp), what each operation works on (tasks.cpp, fills.cpp, totals.cpp), what it waits for
// (waits.cpp), and the order in which threads go through them (order.cpp).
#pragma once

#include <array>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/expand/plan.hpp"
#include "core/graph/expand/reach.hpp"

namespace strata::graph::detail {

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr int kBranches = 8;  // of the tree of processes that reductions go along

/// Bytes from the origin of a spot to the value at some indices.
[[nodiscard]] inline std::int64_t distance(const Spot& spot, const Int3& at, std::size_t bytes) {
    return (at[0] + at[1] * spot.y + at[2] * spot.z) * static_cast<std::int64_t>(bytes);
}
[[nodiscard]] inline Strides strides(const Spot& spot, std::size_t bytes) {
    const auto b = static_cast<std::int64_t>(bytes);
    return {spot.y * b, spot.z * b, spot.component * b};
}

/// Whether a use reads its neighbours' values around its own.
[[nodiscard]] inline bool is_in_place(const Use& use) {
    return use.access == Access::need && use.relation == nullptr && use.width != Int3{};
}

/// When and with what a halo is filled: as soon as the task `maker` has made the values, or, for readers in a
/// part of the step that may be left out, when that part begins. (Who overwrites the values waits for their
/// readers; a copy for readers that do not run would be waited for by nobody.)
struct FillKey {
    int maker = -1, storage = -1;
    int scope = -1;  // the part's, else -1;
    int lag = 0;     // and which version it reads: as the readers' waits and uses say
    int back = 0;
    friend auto operator<=>(const FillKey&, const FillKey&) = default;
};

/// The halos that one task's version needs filled, and who fills them.
struct FillGroup {
    FillKey key;
    Int3 width{};
    Fills fills;
    std::vector<std::uint32_t>
        op_of;  // [fill] -> its operation; those of one source patch and block share one
};

/// The operations of a resolved task: one for each of this process's patches, or one.
struct TaskOps {
    int half = 0;
    int family = -1;  // -1: one operation for the process
    std::uint32_t first = 0, count = 0;
    int leave = -1, gather = -1;  // relocations: its other operations, further entries of tasks_
    std::uint32_t up = kNone;     // reductions over several processes: brings this process's part to the root
};

class PlanBuilder {
  public:
    PlanBuilder(graph::Plan& plan, int threads);
    void build(std::uint64_t serial);

  private:
    using Half = graph::Plan::Half;

    // numbering.cpp
    void number_scopes();
    void divide_among_threads();
    void number_operations();
    std::uint32_t add_op(int half, OpKind kind, const std::string& name, int patch, int thread, int scope);
    void find_halos();
    void add_fills(FillGroup& group);
    [[nodiscard]] FillKey fill_key(int reader, const Before& before) const;
    /// The graph's scope in which a group's operations run.
    [[nodiscard]] int scope_of(const FillKey& key) const {
        return key.scope >= 0 ? key.scope : resolved(key.maker).scope;
    }

    // flags.cpp
    void make_flags(std::uint64_t serial);
    void make_partials(std::uint64_t serial);
    [[nodiscard]] const Flag* flag_of(int process, int task, int local) const;

    // tasks.cpp
    struct Making;  // a call in the making
    void make_calls();
    void make_call(int task, int local);
    void make_team_call(int task);
    void finish_call(Making& making);
    void show_field(Making& making, const Use& use, const ResolvedUse& resolved);
    void show_window(Making& making, const Use& use, const ResolvedUse& resolved);
    void show_list(Making& making, const Use& use, const ResolvedUse& resolved);
    void show_gathered(Making& making, const Use& use, const ResolvedUse& resolved);
    void show_particles(Making& making, const ResolvedUse& resolved);
    void show_scalar(Making& making, const Use& use, const ResolvedUse& resolved);
    void show_contribution(Making& making, const Use& use);

    // fills.cpp
    void make_fills();
    // totals.cpp
    void make_combines();
    void make_reductions();
    [[nodiscard]] std::vector<std::pair<int, int>> contributors(int task) const;  // resolved task, its use

    // relocations.cpp
    void number_relocation(int task);
    [[nodiscard]] int relocation_hops(int set) const;
    void make_relocations(std::uint64_t serial);
    void make_relocation(int task, std::uint64_t serial);
    void wait_in_relocation(int task, int local, std::uint32_t op);
    void put_relocation(int task, Block& block) const;

    // waits.cpp
    void make_waits();
    void wait_for_befores(int task, int local, std::uint32_t op);
    void wait_through(int patch, const Before& before);
    void wait_for_ghosts(const Before& before, const Use& use, const ResolvedUse& of, int patch);
    void wait_for_children(int task);
    void wait_for_turn(int task);
    void wait_for_all(int task, int lag);
    void wait_for(int task, int patch, int lag) { wait_on(task, patch, resolved(task).scope, lag); }
    void wait_on(int task, int patch, int scope, int lag);
    void wait_for_op(int half, std::uint32_t op, int scope, int lag);

    // order.cpp
    void make_program(int scope);
    [[nodiscard]] std::unique_ptr<Block> block_of(int half, int scope);
    [[nodiscard]] std::unique_ptr<Block> control_of(int half, int scope);
    void put_task(int task, Block& block);
    void put_fills(const FillGroup& group, Block& block);
    void put(int half, std::uint32_t op, Block& block) const;

    // What everything asks for.
    [[nodiscard]] Half& half(int which) { return which == 0 ? plan_.start_ : plan_.step_; }
    [[nodiscard]] const TaskInfo& info(int task) const {
        return graph_.tasks()[static_cast<std::size_t>(resolved(task).task)];
    }
    [[nodiscard]] const ResolvedTask& resolved(int task) const {
        return resolved_.tasks[static_cast<std::size_t>(task)];
    }
    [[nodiscard]] const Storage& storage(int number) const {
        return resolved_.storages[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] const LabelInfo& label(int number) const {
        return graph_.labels()[static_cast<std::size_t>(number)];
    }
    [[nodiscard]] TaskOps& ops(int task) { return tasks_[static_cast<std::size_t>(task)]; }
    [[nodiscard]] std::uint16_t scope_of(int graph_scope) const {
        return scopes_[static_cast<std::size_t>(graph_scope)];
    }
    [[nodiscard]] const std::vector<int>& patches(int family) const {
        return patches_[static_cast<std::size_t>(family)];
    }
    [[nodiscard]] int owner(int family, int patch) const {
        return plan_.assignment_.owner[static_cast<std::size_t>(family)][static_cast<std::size_t>(patch)];
    }
    [[nodiscard]] int local(int family, int patch) const {
        return plan_.assignment_.local[static_cast<std::size_t>(family)][static_cast<std::size_t>(patch)];
    }
    [[nodiscard]] bool is_mine(int family, int patch) const { return owner(family, patch) == members_.rank; }
    /// The buffer that a use of a storage means, from an address in its buffer 0.
    [[nodiscard]] Turn turn(int half, int storage, std::byte* base, std::int64_t turn, int back) const;
    [[nodiscard]] const Spot& spot_of(int storage, int patch) const;

    graph::Plan& plan_;
    const Graph& graph_;
    const Resolved& resolved_;
    const Members& members_;
    const OwnPatches& patches_;
    int threads_;
    Reach reach_;

    std::vector<int> halves_;                  // [graph scope] -> 0 start, 1 step
    std::vector<std::uint16_t> scopes_;        // [graph scope] -> its number in its program
    std::vector<std::int64_t*> bases_;         // [graph scope] -> a repeat's round base
    std::vector<std::vector<int>> thread_of_;  // [family][local]
    std::vector<std::vector<char>> at_edge_;   // [family][local]: a neighbour is another thread's
    std::vector<std::vector<int>> order_in_;   // [family]: locals along the family's order
    std::vector<TaskOps> tasks_;               // [resolved task], then parts of relocations
    std::vector<FillGroup> groups_;
    std::map<FillKey, std::size_t> group_of_;
    std::array<std::vector<int>, 2> thread_of_op_;  // [half][op]
    std::array<std::vector<char>, 2> edge_op_;      //
    std::array<std::vector<std::uint16_t>, 2> scope_of_op_;

    std::vector<const std::byte*> directories_;                           // [process]: its flags
    std::vector<std::byte*> partials_;                                    // [process]
    std::vector<std::size_t> partial_at_;                                 // [resolved task]
    std::map<std::pair<int, int>, std::vector<const std::byte*>> slots_;  // (task, use) -> contributions

    std::vector<Wait> waits_;
    std::vector<int> in_place_;
    std::vector<Grid::Meeting> met_;
};

}  // namespace strata::graph::detail
