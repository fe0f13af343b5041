// The places of operations in a program's order: for messages, which the resolved graph does not order. And
// where values of any patch lie.
#include <algorithm>

#include "core/graph/expand/stages/stages.hpp"

namespace strata::graph::detail {

namespace {

int place_in(const ResolvedScope& scope, const TaskOrScope& one) {
    const auto at = std::find(scope.order.begin(), scope.order.end(), one);
    return static_cast<int>(at - scope.order.begin());
}

}  // namespace

Position position_of(const PlanInputs& in, TaskId task, Position::Part part) {
    const ScopeId scope = in.task(task).scope;
    return {scope, place_in(in.resolved.scopes[scope], {task, {}}), part};
}

Position position_of(const PlanInputs& in, const FillKey& key) {
    if (key.scope) return {key.scope, -1, Position::fill};
    return position_of(in, key.maker, Position::fill);
}

int rounds_since(const PlanInputs& in, const Position& other, const Position& here) {
    const auto& scopes = in.graph.scopes();
    std::pair<int, int> at{here.at, here.part};
    for (ScopeId scope = here.scope; scope != other.scope;) {
        const ScopeId outer = scopes[scope].parent();
        if (!outer) return 0;
        at = {place_in(in.resolved.scopes[outer], {{}, scope}), 0};
        scope = outer;
    }
    return std::pair<int, int>(other.at, other.part) < at ? 0 : 1;
}

const PatchArray& Arrays::of(StorageId storage, int patch, const Reader& reader) {
    static const PatchArray nowhere;
    const FamilyId family = in_.family_of(storage);
    if (in_.is_on_node(family, patch))
        return in_.memory.of(in_.owner(family, patch), storage, in_.local(family, patch));
    const auto image = needs_.images.find({storage, patch});
    if (image == needs_.images.end()) return nowhere;  // nothing of it is needed
    readers_[image->second.number].push_back(reader);
    return image->second.array;
}

}  // namespace strata::graph::detail
