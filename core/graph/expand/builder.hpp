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

/// Bytes from the origin of a spot to the value at some indices.
[[nodiscard]] inline std::int64_t distance(const Spot& spot, const Int3& at, std::size_t bytes) {
    return (at[0] + at[1] * spot.y + at[2] * spot.z) * static_cast<std::int64_t>(bytes);
}
[[nodiscard]] inline Strides strides(const Spot& spot, std::size_t bytes) {
    const auto b = static_cast<std::int64_t>(bytes);
    return {spot.y * b, spot.z * b, spot.component * b};
}

[[nodiscard]] inline std::byte* room_for(Stock<Line>& stock, std::size_t bytes) {
    return reinterpret_cast<std::byte*>(stock.take((bytes + 63) / 64).data());
}

/// Of a field: entry `entry` of all that a patch owns, x fastest, as a number of values from the first of
/// them.
[[nodiscard]] inline std::int32_t entry_in(const Spot& spot, const Box& owned, std::int32_t entry) {
    const int rest = entry / owned.extent(0);
    const Int3 at{entry % owned.extent(0), rest % owned.extent(1), rest / owned.extent(1)};
    return static_cast<std::int32_t>(distance(spot, at, 1));
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

/// Where in a program an operation is: within a round of its scope, all operations are in this order.
struct Position {
    int scope = 0;  // the graph's
    int at = -1;    // in ResolvedScope::order; -1: before all
    /// In the order of one task's operations.
    enum Part : int { own, pack, send, receive, unpack, fill, last } part = own;
};

/// Values of one patch that are needed from another process: boxes, or entries of a list (of a field: of all
/// that the patch owns, x fastest).
struct Need {
    std::vector<Box> boxes;
    std::vector<std::int32_t> entries;
};
/// maker (resolved task; -1: none of the step), storage, patch. Storage -1: not values.
struct NeedKey {
    int maker = -1, storage = -1, patch = -1;
    friend auto operator<=>(const NeedKey&, const NeedKey&) = default;
};
using Needs = std::map<NeedKey, Need>;

/// What this process has of a patch of another node: room for the values that it needs, where they lie as
/// they would in the owner's memory.
struct Image {
    Spot spot;
    struct Reader {
        int half = 0;
        std::uint32_t op = kNone;
        Position position;
    };
    std::vector<Reader> readers;
};

/// One end of a stream of messages: what a task has made, for or from one process.
struct Stream {
    enum class What : std::uint8_t { values, leavers, part_of_reduction, reduced } what = What::values;
    int maker = -1, process = -1;
    Channel* channel = nullptr;
    std::vector<NeedKey> keys;
    std::uint32_t first = kNone, second = kNone;  // operations: pack and send, or receive and unpack
};

/// A box of one patch's contributions that another patch adds up.
struct SumPart {
    int maker = -1, windows = -1, from = -1;
    Box box;       // in the receiving patch's indices
    Int3 shift{};  // from the contributing patch's indices to those
};

/// The operations of a resolved task: one for each of this process's patches, or one.
struct TaskOps {
    int half = 0;
    int family = -1;  // -1: one operation for the process
    std::uint32_t first = 0, count = 0;
    int leave = -1, gather = -1;  // relocations: its other operations, further entries of tasks_
    std::vector<std::size_t> outgoing, incoming;  // messages with what it makes: of outgoing_, incoming_
    std::uint32_t up = kNone;  // reductions over several processes: brings this process's part to the root
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

    // needs.cpp
    void find_needs();
    void find_needs_of_tasks();
    void find_needs_of_combinations();
    void find_needs_of_relocations();
    void exchange_needs();
    void need(int maker, int storage, int patch, const Box& box);
    void need(int maker, int storage, int patch, const std::vector<std::int32_t>& entries);
    [[nodiscard]] std::vector<int> makers_of(int task, std::size_t use) const;
    void make_images();

    // messages.cpp
    void number_messages();
    void number_reductions();
    Stream& add_stream(bool outgoing, Stream::What what, int maker, int process, int tag);
    void make_messages();
    void make_sends(const Stream& stream);
    void make_receives(Stream& stream);
    void add_parcels(int half, const NeedKey& key, const Need& need, const Spot& spot,
                     std::vector<Parcel>& parcels);
    [[nodiscard]] std::vector<Parcel> parcels_of(const Stream& stream, bool outgoing);
    [[nodiscard]] Turn result_of(int task);
    [[nodiscard]] int back_of_maker(const NeedKey& key) const;
    [[nodiscard]] std::uint32_t image_op(int task, int process) const;
    void wait_in_messages(int half);
    void wait_for_readers(const Stream& stream);
    void wait_for_packing(int task, int patch);
    void put_messages(int task, bool outgoing, Stream::What what, Block& block) const;

    // positions.cpp
    [[nodiscard]] Position position_of(int task, Position::Part part) const;
    [[nodiscard]] Position position_of(const FillGroup& group) const;
    [[nodiscard]] int rounds_since(const Position& other, const Position& here) const;
    void wait_for_latest(int half, std::uint32_t op, const Position& other, const Position& here);

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
    void combine_field(CombineCall& call, int task, int patch);
    void combine_lists(CombineCall& call, int task, int patch);
    void each_part(int task, int patch, const std::function<void(const SumPart&)>& each);
    void make_reductions();
    [[nodiscard]] std::vector<std::pair<int, int>> contributors(int task) const;  // resolved task, its use

    // relocations.cpp
    void number_relocation(int task);
    [[nodiscard]] const Scope::Relocation& relocation(int task) const {
        const ResolvedTask& of = resolved(task);
        return graph_.scopes()[static_cast<std::size_t>(of.scope)]
            .relocations()[static_cast<std::size_t>(of.of.version)];
    }
    [[nodiscard]] int relocation_hops(int set) const;
    void make_relocations(std::uint64_t serial);
    void make_relocation(int task, std::uint64_t serial);
    void wait_in_relocation(int task, int local, std::uint32_t op);
    std::map<int, const Departures*> make_leavers(int task, const RelocationOf& one,
                                                  const std::vector<const Departures*>& own);
    void put_relocation(int task, Block& block) const;

    // waits.cpp
    void make_waits();
    void finish_waits(int half, std::uint32_t op);
    void wait_for_neighbours(int task, int local, const Before& before);
    void wait_for_befores(int task, int local, std::uint32_t op);
    void wait_through(int patch, const Before& before);
    void wait_for_ghosts(const Before& before, const Use& use, const ResolvedUse& of, int patch);
    void wait_for_children(int task);
    void wait_for_result(int task);
    void wait_for_turn(int task);
    void wait_for_all(int task, int lag);
    /// Where a patch of another node is meant: for its image here.
    void wait_for(int task, int family, int patch, int lag) {
        wait_on(task, family, patch, resolved(task).scope, lag);
    }
    void wait_on(int task, int family, int patch, int scope, int lag);
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
    [[nodiscard]] bool is_near(int family, int patch) const { return members_.is_near(owner(family, patch)); }
    [[nodiscard]] int family_of(int storage) const {
        return number_of(graph_, *label_of(graph_, this->storage(storage)).family);
    }
    [[nodiscard]] const Spot& spot_of(int storage, int patch);

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
    std::vector<TaskOps> tasks_;               // [resolved task], then parts of relocations
    std::vector<FillGroup> groups_;
    std::map<FillKey, std::size_t> group_of_;
    std::array<std::vector<int>, 2> thread_of_op_;  // [half][op]
    std::array<std::vector<char>, 2> edge_op_;      //
    std::array<std::vector<std::uint16_t>, 2> scope_of_op_;

    std::vector<const std::byte*> directories_;    // [process]: its flags
    std::vector<std::byte*> partials_;             // [process]
    std::vector<std::size_t> partial_at_;          // [resolved task]
    std::vector<Needs> needs_, asked_;             // [process]: of ours, of theirs
    std::map<std::pair<int, int>, Image> images_;  // (storage, patch)
    Image::Reader reader_;                         // who asks for spots now
    std::vector<Stream> outgoing_, incoming_;
    std::map<std::pair<int, int>, std::vector<std::size_t>> packing_;  // (storage, patch) -> of outgoing_

    std::map<std::pair<int, int>, std::byte*> parts_from_;  // (reduction, process of another node)
    std::vector<SumInPlace> in_place_sums_;
    std::map<std::pair<int, int>, std::vector<const std::byte*>> slots_;  // (task, use) -> contributions

    std::vector<Wait> waits_;
    std::vector<int> in_place_;
    std::vector<Grid::Meeting> met_;
};

}  // namespace strata::graph::detail
