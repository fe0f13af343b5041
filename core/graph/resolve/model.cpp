#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

ScopeId Model::child_of(ScopeId ancestor, ScopeId scope) const {
    ScopeId below;
    while (scope && scope != ancestor) {
        below = scope;
        scope = graph.scopes()[scope].parent();
    }
    return below;
}

ScopeId Model::common_scope(ScopeId a, ScopeId b) const {
    while (a && !inside(b, a)) a = scope(a).parent();
    return a;
}

std::string Model::say(TaskId t) const {
    const ResolvedTask& it = task(t);
    if (it.what == ResolvedTask::What::body) return fmt::format("task '{}'", it.name);
    return fmt::format("the {}", it.name);
}

std::string Model::say(LabelId id, int version) const {
    return version < 0 ? fmt::format("'{}'", label(id).name)
                       : fmt::format("'{}' (version {})", label(id).name, version);
}

}  // namespace strata::graph::resolving
