// Makes a Plan, in this order: operations and their threads (numbering.cpp), what is needed from other nodes
// and asked of this one (needs.cpp), flags that the others can see (flags.cpp), what each operation works on
// (tasks.cpp, fills.cpp, totals.cpp, relocations.cpp, messages.cpp), what it waits for (waits.cpp), and the
// order in which threads go through them (order.cpp).
#pragma once

#include <array>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/expand/channel.hpp"
#include "core/graph/expand/plan.hpp"
#include "core/graph/expand/reach.hpp"

namespace strata::graph::detail {

constexpr std::uint32_t kNone = 0xffffffffU;
constexpr int kBranches = 8;  // of the tree of processes that reductions go along

/// Bytes from the origin of an array to the value at some indices.
[[nodiscard]] inline std::int64_t distance(const PatchArray& array, const Int3& at, std::size_t bytes) {
    return (at[0] + at[1] * array.y + at[2] * array.z) * static_cast<std::int64_t>(bytes);
}
[[nodiscard]] inline Strides strides(const PatchArray& array, std::size_t bytes) {
    const auto b = static_cast<std::int64_t>(bytes);
    return {array.y * b, array.z * b, array.component * b};
}

[[nodiscard]] inline std::byte* room_for(Stock<Line>& stock, std::size_t bytes) {
    return reinterpret_cast<std::byte*>(stock.take((bytes + 63) / 64).data());
}

/// Of a field: entry `entry` of all that a patch owns, x fastest, as a number of values from the first of
/// them.
[[nodiscard]] inline std::int32_t entry_in(const PatchArray& array, const Box& owned, std::int32_t entry) {
    const int rest = entry / owned.extent(0);
    const Int3 at{entry % owned.extent(0), rest % owned.extent(1), rest / owned.extent(1)};
    return static_cast<std::int32_t>(distance(array, at, 1));
}

/// Whether a use reads its neighbours' values around its own.
[[nodiscard]] inline bool is_in_place(const Use& use) {
    return use.access == Access::need && use.relation == nullptr && use.width != Int3{};
}

/// When and with what a halo is filled: as soon as the task `maker` has made the values, or, for readers in a
/// part of the step that may be left out, when that part begins. (Who overwrites the values waits for their
/// readers; a copy for readers that do not run would be waited for by nobody.)
struct FillKey {
    TaskId maker;
    StorageId storage;
    ScopeId scope;  // the part's, else none;
    int lag = 0;    // and which version it reads: as the readers' waits and uses say
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

/// Where in a program an operation is: within a round of its scope, all operations are in this order.
struct Position {
    ScopeId scope = kStart;
    int at = -1;  // in ResolvedScope::order; -1: before all
    /// In the order of one task's operations.
    enum Part : int { own, pack, send, receive, unpack, fill, last } part = own;
};

/// Values of one patch that are needed from another process: boxes, or entries of a list (of a field: of all
/// that the patch owns, x fastest).
struct Need {
    std::vector<Box> boxes;
    std::vector<std::int32_t> entries;
};
/// No maker: it was there before the step. No storage: these are no values.
struct NeedKey {
    TaskId maker;
    StorageId storage;
    int patch = -1;
    friend auto operator<=>(const NeedKey&, const NeedKey&) = default;
};
using Needs = std::map<NeedKey, Need>;

/// What this process has of a patch of another node: room for the values that it needs, where they lie as
/// they would in the owner's memory.
struct Image {
    PatchArray array;
    struct Reader {
        int phase = 0;
        std::uint32_t op = kNone;
        Position position;
    };
    std::vector<Reader> readers;
};

/// One end of a stream of messages: what a task has made, for or from one process.
struct Stream {
    enum class What : std::uint8_t { values, leavers, part_of_reduction, reduced } what = What::values;
    TaskId maker;
    int process = -1;
    Channel* channel = nullptr;
    std::vector<NeedKey> keys;
    std::uint32_t first = kNone, second = kNone;  // operations: pack and send, or receive and unpack
};

/// A box of one patch's contributions that another patch adds up.
struct SumPart {
    TaskId maker;
    StorageId windows;
    int from = -1;
    Box box;       // in the receiving patch's indices
    Int3 shift{};  // from the contributing patch's indices to those
};

/// The operations of a resolved task: one for each of this process's patches, or one.
struct TaskOps {
    int phase = 0;
    FamilyId family;  // none: one operation for the process
    std::uint32_t first = 0, count = 0;
    TaskId leave, gather;  // relocations: its other operations, further entries of tasks_
    std::vector<std::size_t> outgoing, incoming;  // messages with what it makes: of outgoing_, incoming_
    std::uint32_t up = kNone;  // reductions over several processes: brings this process's part to the root
};

class PlanBuilder {
  public:
    PlanBuilder(graph::Plan& plan, int threads);
    void build(std::uint64_t serial);

  private:
    using ProgramData = graph::Plan::ProgramData;

    // numbering.cpp
    void number_scopes();
    void divide_among_threads();
    void number_operations();
    std::uint32_t add_op(int phase, OpKind kind, const std::string& name, int patch, int thread,
                         ScopeId scope);
    void find_halos();
    void add_fills(FillGroup& group);
    [[nodiscard]] FillKey fill_key(TaskId reader, const Before& before) const;
    /// The graph's scope in which a group's operations run.
    [[nodiscard]] ScopeId scope_of(const FillKey& key) const {
        return key.scope ? key.scope : resolved(key.maker).scope;
    }

    // needs.cpp
    void find_needs();
    void find_needs_of_tasks();
    void find_needs_of_combinations();
    void find_needs_of_relocations();
    void exchange_needs();
    void need(TaskId maker, StorageId storage, int patch, const Box& box);
    void need(TaskId maker, StorageId storage, int patch, const std::vector<std::int32_t>& entries);
    [[nodiscard]] std::vector<TaskId> makers_of(TaskId task, std::size_t use) const;
    void make_images();

    // messages.cpp
    void number_messages();
    void number_reductions();
    Stream& add_stream(bool outgoing, Stream::What what, TaskId maker, int process, int tag);
    void make_messages();
    void make_sends(const Stream& stream);
    void make_receives(Stream& stream);
    void add_parcels(int phase, const NeedKey& key, const Need& need, const PatchArray& array,
                     std::vector<Parcel>& parcels);
    [[nodiscard]] std::vector<Parcel> parcels_of(const Stream& stream, bool outgoing);
    [[nodiscard]] RoundAddress result_of(TaskId task);
    [[nodiscard]] int back_of_maker(const NeedKey& key) const;
    [[nodiscard]] std::uint32_t image_op(TaskId task, int process) const;
    void wait_in_messages(int phase);
    void wait_for_readers(const Stream& stream);
    void wait_for_packing(TaskId task, int patch);
    void put_messages(TaskId task, bool outgoing, Stream::What what, Block& block) const;

    // positions.cpp
    [[nodiscard]] Position position_of(TaskId task, Position::Part part) const;
    [[nodiscard]] Position position_of(const FillGroup& group) const;
    [[nodiscard]] int rounds_since(const Position& other, const Position& here) const;
    void wait_for_latest(int phase, std::uint32_t op, const Position& other, const Position& here);

    // flags.cpp
    void make_flags(std::uint64_t serial);
    void make_partials(std::uint64_t serial);
    [[nodiscard]] const Flag* flag_of(int process, TaskId task, int local) const;

    // tasks.cpp
    struct Making;  // a call in the making
    void make_calls();
    void make_call(TaskId task, int local);
    void make_team_call(TaskId task);
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
    void combine_field(CombineCall& call, TaskId task, int patch);
    void combine_lists(CombineCall& call, TaskId task, int patch);
    void each_part(TaskId task, int patch, const std::function<void(const SumPart&)>& each);
    void make_reductions();
    [[nodiscard]] std::vector<std::pair<TaskId, int>> contributors(TaskId task) const;  // a task, its use

    // relocations.cpp
    void number_relocation(TaskId task);
    [[nodiscard]] const Scope::Relocation& relocation(TaskId task) const {
        const ResolvedTask& of = resolved(task);
        return graph_.scopes()[of.scope].relocations()[static_cast<std::size_t>(of.relocation)];
    }
    [[nodiscard]] int relocation_hops(SetId set) const;
    void make_relocations(std::uint64_t serial);
    void make_relocation(TaskId task, std::uint64_t serial);
    void wait_in_relocation(TaskId task, int local, std::uint32_t op);
    std::map<int, const PatchLeavers*> make_leavers(TaskId task, const SetRelocation& one,
                                                    const std::vector<const PatchLeavers*>& own);
    void put_relocation(TaskId task, Block& block) const;

    // waits.cpp
    void make_waits();
    void finish_waits(int phase, std::uint32_t op);
    void wait_for_neighbours(TaskId task, int local, const Before& before);
    void wait_for_befores(TaskId task, int local, std::uint32_t op);
    void wait_through(int patch, const Before& before);
    void wait_for_ghosts(const Before& before, const Use& use, const ResolvedUse& of, int patch);
    void wait_for_children(TaskId task);
    void wait_for_result(TaskId task);
    void wait_for_turn(TaskId task);
    void wait_for_all(TaskId task, int lag);
    /// Where a patch of another node is meant: for its image here.
    void wait_for(TaskId task, FamilyId family, int patch, int lag) {
        wait_on(task, family, patch, resolved(task).scope, lag);
    }
    void wait_on(TaskId task, FamilyId family, int patch, ScopeId scope, int lag);
    void wait_for_op(int phase, std::uint32_t op, ScopeId scope, int lag);

    // order.cpp
    void make_program(ScopeId scope);
    [[nodiscard]] std::unique_ptr<Block> block_of(int phase, ScopeId scope);
    [[nodiscard]] std::unique_ptr<Block> control_of(int phase, ScopeId scope);
    void put_task(TaskId task, Block& block);
    void put_fills(const FillGroup& group, Block& block);
    void put(int phase, std::uint32_t op, Block& block) const;

    // What everything asks for.
    [[nodiscard]] ProgramData& program_data(int which) { return which == 0 ? plan_.start_ : plan_.step_; }
    [[nodiscard]] const TaskInfo& info(TaskId task) const { return graph_.tasks()[resolved(task).task]; }
    [[nodiscard]] const ResolvedTask& resolved(TaskId task) const { return resolved_.tasks[task]; }
    [[nodiscard]] const Storage& storage(StorageId number) const { return resolved_.storages[number]; }
    [[nodiscard]] const LabelInfo& label(LabelId number) const { return graph_.labels()[number]; }
    [[nodiscard]] TaskOps& ops(TaskId task) { return tasks_[task]; }
    [[nodiscard]] std::uint16_t scope_of(ScopeId graph_scope) const { return scopes_[graph_scope]; }
    [[nodiscard]] const std::vector<int>& patches(FamilyId family) const { return patches_[family]; }
    [[nodiscard]] int owner(FamilyId family, int patch) const {
        return plan_.assignment_.owner[family][static_cast<std::size_t>(patch)];
    }
    [[nodiscard]] int local(FamilyId family, int patch) const {
        return plan_.assignment_.local[family][static_cast<std::size_t>(patch)];
    }
    [[nodiscard]] bool is_mine(FamilyId family, int patch) const {
        return owner(family, patch) == members_.rank;
    }
    /// The buffer that a use of a storage means, from an address in its buffer 0.
    [[nodiscard]] RoundAddress address(int phase, StorageId storage, std::byte* base,
                                       std::int64_t buffer_stride, int back) const;
    [[nodiscard]] bool is_on_node(FamilyId family, int patch) const {
        return members_.is_on_node(owner(family, patch));
    }
    [[nodiscard]] FamilyId family_of(StorageId storage) const {
        return number_of(graph_, *label_of(graph_, this->storage(storage)).family);
    }
    [[nodiscard]] const PatchArray& array_of(StorageId storage, int patch);

    graph::Plan& plan_;
    const Graph& graph_;
    const Resolved& resolved_;
    const Members& members_;
    const OwnPatches& patches_;
    int threads_;
    Reach reach_;

    VectorBy<ScopeId, int> phase_of_;                 // 0 start, 1 step
    VectorBy<ScopeId, std::uint16_t> scopes_;         // its number in its program
    VectorBy<ScopeId, std::int64_t*> bases_;          // a repeat's round base
    VectorBy<FamilyId, std::vector<int>> thread_of_;  // [family][local]
    VectorBy<FamilyId, std::vector<char>> at_edge_;   // [family][local]: a neighbour is another thread's
    VectorBy<TaskId, TaskOps> tasks_;                 // of Resolved::tasks, then parts of relocations
    std::vector<FillGroup> groups_;
    std::map<FillKey, std::size_t> group_of_;
    std::array<std::vector<int>, 2> thread_of_op_;  // [phase][op]
    std::array<std::vector<char>, 2> edge_op_;      //
    std::array<std::vector<std::uint16_t>, 2> scope_of_op_;

    std::vector<const std::byte*> directories_;  // [process]: its flags
    std::vector<std::byte*> partials_;           // [process]
    VectorBy<TaskId, std::size_t> partial_at_;
    std::vector<Needs> needs_, asked_;                   // [process]: of ours, of theirs
    std::map<std::pair<StorageId, int>, Image> images_;  // (storage, patch)
    Image::Reader reader_;                               // the operation whose arrays are looked up now
    std::vector<Stream> outgoing_, incoming_;
    std::map<std::pair<StorageId, int>, std::vector<std::size_t>>
        packing_;  // (storage, patch) -> of outgoing_

    std::map<std::pair<TaskId, int>, std::byte*> parts_from_;  // (reduction, process of another node)
    std::vector<SumInPlace> in_place_sums_;
    std::map<std::pair<TaskId, int>, std::vector<const std::byte*>> slots_;  // (task, use) -> contributions

    std::vector<Wait> waits_;
    std::vector<int> in_place_;
    std::vector<Grid::Meeting> met_;
};

}  // namespace strata::graph::detail
