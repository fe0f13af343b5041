#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

int Model::child_of(int ancestor, int scope) const {
    int below = -1;
    while (scope >= 0 && scope != ancestor) {
        below = scope;
        scope = graph.scopes()[static_cast<std::size_t>(scope)].parent();
    }
    return below;
}

int Model::common_scope(int a, int b) const {
    while (a >= 0 && !inside(b, a)) a = scope(a).parent();
    return a;
}

std::string Model::say(int t) const {
    const ResolvedTask& it = task(t);
    if (it.what == ResolvedTask::What::body) return fmt::format("task '{}'", it.name);
    return fmt::format("the {}", it.name);
}

std::string Model::say(int id, int version) const {
    return version < 0 ? fmt::format("'{}'", label(id).name)
                       : fmt::format("'{}' (version {})", label(id).name, version);
}

}  // namespace strata::graph::resolving
