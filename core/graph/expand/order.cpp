// The order in which threads go through their operations.
#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

PlanBuilder::PlanBuilder(graph::Plan& plan, int threads)
    : plan_(plan),
      graph_(plan.graph_),
      resolved_(plan.resolved_),
      members_(plan.members_),
      patches_(plan.memory_.patches()),
      threads_(threads),
      reach_(plan.graph_) {}

void PlanBuilder::build(std::uint64_t serial) {
    in_place_sums_ = sums_in_place(graph_, resolved_);
    number_scopes();
    divide_among_threads();
    number_operations();
    find_halos();
    find_needs();
    number_messages();
    make_flags(serial);
    make_partials(serial);
    make_relocations(serial);
    make_calls();
    make_fills();
    make_combines();
    make_reductions();
    make_messages();
    make_waits();
    for (const Scope& scope : graph_.scopes())
        if (!scope.parent()) make_program(scope.id());
}

void PlanBuilder::make_program(ScopeId scope) {
    const int which = phase_of_[scope];
    std::unique_ptr<Block> block = block_of(which, scope);
    program_data(which).program.step = std::move(*block);
}

void PlanBuilder::put(int phase, std::uint32_t op, Block& block) const {
    const auto thread = static_cast<std::size_t>(thread_of_op_[static_cast<std::size_t>(phase)][op]);
    block.order[thread].push_back(op);
}

/// A task's operations: first those whose results others wait for, with what brings them there. Of a grid
/// both go along x: the ends of neighbours' rows lie in the same lines, which the second finds in a cache.
void PlanBuilder::put_task(TaskId task, Block& block) {
    using What = Stream::What;
    const TaskOps& all = ops(task);
    if (all.leave) return put_relocation(task, block);
    if (!all.family) {
        put_messages(task, false, What::part_of_reduction, block);
        if (all.up != kNone) put(all.phase, all.up, block);
        put_messages(task, true, What::part_of_reduction, block);
        put_messages(task, false, What::reduced, block);
        put(all.phase, all.first, block);
        for (const What what : {What::reduced, What::values}) put_messages(task, true, what, block);
    } else {
        const FamilyId f = all.family;
        for (const char edge : {char{1}, char{0}}) {
            for (std::size_t local = 0; local < at_edge_[f].size(); ++local)
                if (at_edge_[f][local] == edge)
                    put(all.phase, all.first + static_cast<std::uint32_t>(local), block);
            if (edge == 1) put_messages(task, true, What::values, block);
        }
    }
    put_messages(task, false, What::values, block);
    for (const FillGroup& group : groups_)
        if (group.key.maker == task && !group.key.scope) put_fills(group, block);
}

void PlanBuilder::put_fills(const FillGroup& group, Block& block) {
    std::uint32_t last = kNone;
    for (const std::uint32_t op : group.op_of) {
        if (op != last) put(ops(group.key.maker).phase, op, block);
        last = op;
    }
}

std::unique_ptr<Block> PlanBuilder::block_of(int phase, ScopeId scope) {
    auto all = std::make_unique<Block>();
    all->kind = Block::Kind::sequence;
    all->scope = scope_of(scope);
    Block* open = nullptr;
    const auto opened = [&]() -> Block& {
        if (open == nullptr) {
            all->inside.push_back(std::make_unique<Block>());
            open = all->inside.back().get();
            open->scope = scope_of(scope);
            open->order.resize(static_cast<std::size_t>(threads_));
        }
        return *open;
    };
    for (const FillGroup& group : groups_)
        if (group.key.scope == scope) put_fills(group, opened());
    for (const auto& [task, inner] : resolved_.scopes[scope].order) {
        if (inner) {
            all->inside.push_back(control_of(phase, inner));
            open = nullptr;
            continue;
        }
        put_task(task, opened());
    }
    return all;
}

std::unique_ptr<Block> PlanBuilder::control_of(int phase, ScopeId number) {
    const Scope& scope = graph_.scopes()[number];
    const ResolvedScope& inner = resolved_.scopes[number];
    auto block = std::make_unique<Block>();
    using Form = Scope::Form;
    block->kind = scope.form() == Form::repeat ? Block::Kind::repeat
                  : scope.form() == Form::when ? Block::Kind::when
                                               : Block::Kind::subcycle;
    block->scope = scope_of(number);
    block->most = static_cast<std::uint32_t>(scope.most());
    block->inside.push_back(block_of(phase, number));
    if (scope.form() == Form::subcycle) return block;
    DecideCall& call = this->program_data(phase).decisions.one();
    call.test = &scope.decision();
    call.more_if = scope.form() == Form::when;
    call.round_base = bases_[number];
    const PatchArray& array = plan_.memory_.own(inner.decision.storage, 0);
    call.scalar = address(phase, inner.decision.storage, array.origin, array.buffer_stride, 0);
    block->decision.more = DecideCall::more;
    block->decision.what = &call;
    if (inner.decided_by && ops(inner.decided_by).phase == phase) {
        const ResolvedTask& by = resolved(inner.decided_by);
        block->decision.decided = {this->program_data(phase).program.ops[ops(inner.decided_by).first].flag,
                                   scope_of(by.scope), static_cast<std::uint16_t>(inner.decided_lag),
                                   static_cast<std::int32_t>(ops(inner.decided_by).first)};
    }
    return block;
}

}  // namespace strata::graph::detail
