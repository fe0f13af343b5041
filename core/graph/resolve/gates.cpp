// Requests and answers live within one round.
#include <map>

#include "core/graph/declare/request_set.hpp"
#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

void check_gates(const Model& m) {
    std::map<std::pair<LabelId, bool>, TaskId> gates;  // by label, and whether it is of the start
    for (const TaskId t : m.out.tasks.ids()) {
        const ResolvedTask& task = m.out.tasks[t];
        if (task.what != ResolvedTask::What::reduce) continue;
        const RequestRole role = request_role(m.graph, task.completed.label);
        if (!role.is_gate()) continue;
        const auto [other, first] =
            gates.try_emplace({task.completed.label, m.inside(task.scope, kStart)}, t);
        if (!first)
            throw m
                .refuse(fmt::format("{} '{}' are {} in {} and in {}",
                                    role.what == RequestRole::delivered ? "the requests" : "the answers to",
                                    role.set->name(),
                                    role.what == RequestRole::delivered ? "sent off" : "given",
                                    m.say(m.out.tasks[other->second].scope), m.say(task.scope)))
                .allowed("one scope of the start, and one of the step")
                .remedy("declare requests of their own for each of them");
    }
    for (const Storage& storage : m.out.storages)
        if (const RequestRole role = request_role(m.graph, storage.label); role.is_gate() && storage.kept)
            throw m
                .refuse(fmt::format("requests '{}' are used in another round than they are asked or "
                                    "answered in",
                                    role.set->name()))
                .remedy("ask, answer and take the answers in one round; keep what was found in a list");
}

}  // namespace strata::graph::resolving
