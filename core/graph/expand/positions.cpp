// Who comes before whom in a program, whatever depends on what: for messages, which are no part of what the
// resolved graph orders.
#include <algorithm>

#include "core/graph/expand/builder.hpp"

namespace strata::graph::detail {

namespace {

int place_in(const ResolvedScope& scope, const TaskOrScope& one) {
    const auto at = std::find(scope.order.begin(), scope.order.end(), one);
    return static_cast<int>(at - scope.order.begin());
}

}  // namespace

Position PlanBuilder::position_of(TaskId task, Position::Part part) const {
    const ScopeId scope = resolved(task).scope;
    return {scope, place_in(resolved_.scopes[scope], {task, {}}), part};
}

Position PlanBuilder::position_of(const FillGroup& group) const {
    if (group.key.scope) return {group.key.scope, -1, Position::fill};
    return position_of(group.key.maker, Position::fill);
}

/// How many rounds of its own scope ago the other was last before this one: 0 or 1; of a scope that this one
/// is not in, 0: what it has done by then.
int PlanBuilder::rounds_since(const Position& other, const Position& here) const {
    const auto& scopes = graph_.scopes();
    std::pair<int, int> at{here.at, here.part};
    for (ScopeId scope = here.scope; scope != other.scope;) {
        const ScopeId outer = scopes[scope].parent();
        if (!outer) return 0;
        at = {place_in(resolved_.scopes[outer], {{}, scope}), 0};
        scope = outer;
    }
    return std::pair<int, int>(other.at, other.part) < at ? 0 : 1;
}

void PlanBuilder::wait_for_latest(int phase, std::uint32_t op, const Position& other, const Position& here) {
    wait_for_op(phase, op, other.scope, rounds_since(other, here));
}

}  // namespace strata::graph::detail
