// The order in which threads go through their operations.
#include <algorithm>
#include <tuple>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

using What = Stream::What;

/// Makes one of the two programs.
class MakeProgram {
  public:
    MakeProgram(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
                const Operations& operations, ProgramData& all, int phase)
        : in_(in),
          numbered_(numbered),
          streams_(streams),
          threads_(operations.threads(phase)),
          all_(all),
          phase_(phase) {}

    /// A scope from one end to the other.
    std::unique_ptr<Block> block_of(ScopeId scope) {
        auto all = std::make_unique<Block>();
        all->kind = Block::Kind::sequence;
        all->scope = numbered_.scopes[scope];
        Block* open = nullptr;
        const auto opened = [&]() -> Block& {
            if (open == nullptr) {
                all->inside.push_back(std::make_unique<Block>());
                open = all->inside.back().get();
                open->scope = numbered_.scopes[scope];
                open->order.resize(static_cast<std::size_t>(in_.threads));
            }
            return *open;
        };
        for (const FillGroup& group : numbered_.groups)
            if (group.key.scope == scope) put_fills(group, opened());
        for (const auto& [task, inner] : in_.resolved.scopes[scope].order) {
            if (inner) {
                all->inside.push_back(control_of(inner));
                open = nullptr;
                continue;
            }
            put_task(task, opened());
        }
        return all;
    }

  private:
    /// A scope within another, with the decision whether to begin a round.
    std::unique_ptr<Block> control_of(ScopeId number) {
        const Scope& scope = in_.graph.scopes()[number];
        auto block = std::make_unique<Block>();
        using Form = Scope::Form;
        block->kind = scope.form() == Form::repeat ? Block::Kind::repeat
                      : scope.form() == Form::when ? Block::Kind::when
                                                   : Block::Kind::subcycle;
        block->scope = numbered_.scopes[number];
        block->most = static_cast<std::uint32_t>(scope.most());
        block->inside.push_back(block_of(number));
        if (scope.form() != Form::subcycle) block->decision = decision_of(scope);
        return block;
    }

    Decision decision_of(const Scope& scope) {
        const ResolvedScope& resolved = in_.resolved.scopes[scope.id()];
        DecideCall& call = all_.store.one<DecideCall>();
        call.test = &scope.decision();
        call.more_if = scope.form() == Scope::Form::when;
        call.round_base = numbered_.bases[scope.id()];
        const StorageId storage = resolved.decision.storage;
        const PatchArray& array = in_.memory.own(storage, 0);
        call.scalar = numbered_.address(phase_, in_.storage(storage), array.origin, array.buffer_stride, 0);
        Decision decision;
        decision.more = DecideCall::more;
        decision.what = &call;
        const TaskId by = resolved.decided_by;
        if (by && numbered_.tasks[by].phase == phase_) {
            const std::uint32_t op = numbered_.tasks[by].first;
            decision.decided = {all_.program.ops[op].flag, numbered_.scopes[in_.task(by).scope],
                                static_cast<std::uint16_t>(resolved.decided_lag)};
        }
        return decision;
    }

    void put(std::uint32_t op, Block& block) const {
        block.order[static_cast<std::size_t>(threads_[op].thread)].push_back(op);
    }

    void put_fills(const FillGroup& group, Block& block) const {
        std::uint32_t last = kNone;
        for (const std::uint32_t op : group.op_of) {
            if (op != last && op != kNone) put(op, block);
            last = op;
        }
    }

    void put_messages(TaskId task, bool outgoing, What what, Block& block) const {
        for (const std::size_t i : outgoing ? streams_.of[task].outgoing : streams_.of[task].incoming) {
            const Stream& stream = (outgoing ? streams_.outgoing : streams_.incoming)[i];
            if (stream.what != what) continue;
            put(stream.first, block);
            if (stream.second != kNone && stream.second != numbered_.tasks[task].first)
                put(stream.second, block);
        }
    }

    /// The operations of patches that have a neighbour of another thread (`edge` 1), or of the others (0).
    void put_patches(const TaskOps& all, char edge, Block& block) const {
        const std::vector<char>& at_edge = numbered_.at_edge[all.family];
        for (std::size_t local = 0; local < at_edge.size(); ++local)
            if (const std::uint32_t op = all.op(static_cast<int>(local));
                at_edge[local] == edge && op != kNone)
                put(op, block);
    }

    /// A task's operations: first those whose results others wait for, with what brings them there. Of a grid
    /// both go along x: the ends of neighbours' rows lie in the same lines, which the second finds in a
    /// cache.
    void put_task(TaskId task, Block& block) const {
        const TaskOps& all = numbered_.tasks[task];
        if (all.leave) return put_relocation(task, block);
        if (all.gate != RequestRole::none) return put_gate(task, block);
        if (!all.family) {
            put_messages(task, false, What::part_of_reduction, block);
            if (all.up != kNone) put(all.up, block);
            put_messages(task, true, What::part_of_reduction, block);
            put_messages(task, false, What::reduced, block);
            put(all.first, block);
            for (const What what : {What::reduced, What::values}) put_messages(task, true, what, block);
        } else if (numbered_.sweeps.count(task) > 0) {
            return put_sweep(task, block);
        } else {
            put_patches(all, 1, block);
            put_messages(task, true, What::values, block);
            put_patches(all, 0, block);
        }
        put_messages(task, false, What::values, block);
        for (const FillGroup& group : numbered_.groups)
            if (group.key.maker == task && !group.key.scope) put_fills(group, block);
    }

    /// A sweep goes from level to level. What comes from patches of a level (messages, copies into halos)
    /// lies between it and the next; of a level those patches come first for which others wait. The order is
    /// the same in all threads and processes, so the first operation of all that is not done can always
    /// begin.
    void put_sweep(TaskId task, Block& block) const {
        enum Part : int { edge, inner, outgoing, incoming, halo };
        const TaskOps& all = numbered_.tasks[task];
        const PatchLevels& levels = numbered_.sweeps.at(task);
        std::vector<std::tuple<int, Part, std::uint32_t>> ordered;  // level, part, operation
        const std::vector<int>& patches = in_.patches(all.family);
        for (std::size_t local = 0; local < patches.size(); ++local)
            ordered.emplace_back(levels.of(patches[local]),
                                 numbered_.at_edge[all.family][local] != 0 ? edge : inner,
                                 all.op(static_cast<int>(local)));
        const auto messages = [&](const std::vector<Stream>& streams, const std::vector<std::size_t>& which,
                                  Part part) {
            for (const std::size_t i : which)
                for (const std::uint32_t op : {streams[i].first, streams[i].second})
                    ordered.emplace_back(levels.of(streams[i].keys.front().patch), part, op);
        };
        messages(streams_.outgoing, streams_.of[task].outgoing, outgoing);
        messages(streams_.incoming, streams_.of[task].incoming, incoming);
        for (const FillGroup& group : numbered_.groups) {
            if (group.key.maker != task || group.key.scope) continue;
            for (std::size_t i = 0; i < group.op_of.size(); ++i)
                if (group.op_of[i] != kNone && (i == 0 || group.op_of[i] != group.op_of[i - 1]))
                    ordered.emplace_back(levels.of(group.fills.all[i].from), halo, group.op_of[i]);
        }
        std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) {
            return std::pair(std::get<0>(a), std::get<1>(a)) < std::pair(std::get<0>(b), std::get<1>(b));
        });
        for (const auto& [level, part, op] : ordered) put(op, block);
    }

    void put_relocation(TaskId task, Block& block) const {
        const TaskOps& arrive = numbered_.tasks[task];
        const TaskOps& leave = numbered_.tasks[arrive.leave];
        put_patches(leave, 1, block);
        put_messages(task, true, What::leavers, block);
        put_patches(leave, 0, block);
        if (arrive.gather) put(numbered_.tasks[arrive.gather].first, block);
        put_messages(task, false, What::leavers, block);
        put_patches(arrive, 1, block);
        put_messages(task, true, What::values, block);
        put_patches(arrive, 0, block);
        put_messages(task, false, What::values, block);
    }

    void put_gate(TaskId task, Block& block) const {
        const TaskOps& all = numbered_.tasks[task];
        put(all.up, block);
        for (const bool outgoing : {true, false}) put_messages(task, outgoing, What::gate, block);
        put(numbered_.tasks[all.arrived].first, block);
        put(all.first, block);
        put(numbered_.tasks[all.taken].first, block);
    }

    const PlanInputs& in_;
    const Numbered& numbered_;
    const Streams& streams_;
    const std::vector<Operations::OpThread>& threads_;
    ProgramData& all_;
    int phase_;
};

}  // namespace

void make_programs(const PlanInputs& in, const Numbered& numbered, const Streams& streams,
                   const Operations& operations, PlanParts& plan) {
    for (const Scope& scope : in.graph.scopes()) {
        if (scope.parent()) continue;
        const int phase = numbered.phase_of[scope.id()];
        ProgramData& all = plan.of(phase);
        all.program.step =
            std::move(*MakeProgram(in, numbered, streams, operations, all, phase).block_of(scope.id()));
    }
}

}  // namespace strata::graph::detail
