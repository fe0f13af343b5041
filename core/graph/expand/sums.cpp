// Which sums of contributions are put together where they lie.
#include <algorithm>

#include "core/graph/expand/memory.hpp"

namespace strata::graph {

namespace {

const Storage& storage_of(const Resolved& resolved, StorageId storage) { return resolved.storages[storage]; }

/// Memory that one label has for itself, for one round.
bool alone(const Storage& storage) {
    return storage.labels.size() == 1 && storage.depth == 1 && !storage.kept;
}

}  // namespace

std::vector<SumInPlace> sums_in_place(const Graph& graph, const Resolved& resolved) {
    std::vector<SumInPlace> all;
    for (const TaskId c : resolved.tasks.ids()) {
        const ResolvedTask& combine = resolved.tasks[c];
        if (combine.what != ResolvedTask::What::combine || combine.uses.size() != 2) continue;
        SumInPlace sum;
        sum.combine = c;
        sum.result = combine.uses[0].storage, sum.windows = combine.uses[1].storage;
        sum.maker = combine.uses[1].maker;
        const Storage &result = storage_of(resolved, sum.result),
                      &windows = storage_of(resolved, sum.windows);
        const LabelInfo& label = label_of(graph, result);
        if (label.kind != Kind::field || !alone(result) || !alone(windows) || !windows.contributions)
            continue;
        bool may = true;
        for (const TaskId t : resolved.tasks.ids()) {
            const ResolvedTask& task = resolved.tasks[t];
            if (!may) break;
            if (t == c) continue;
            bool uses = false;
            for (std::size_t u = 0; u < task.uses.size() && may; ++u) {
                const StorageId storage = task.uses[u].storage;
                if (storage == sum.windows) may = t == sum.maker;
                if (storage != sum.result) continue;
                uses = true;
                may = task.what == ResolvedTask::What::body && task.scope == combine.scope;
                if (!may) break;
                const TaskInfo& info = graph.tasks()[t];
                const Use& use = info.uses[u];
                may = info.family == label.family && info.runs == Runs::on_patches &&
                      use.relation == nullptr && use.width == Int3{} && use.version.back == 0;
            }
            if (uses) sum.users.push_back(t);
        }
        for (const ResolvedScope& scope : resolved.scopes)
            may = may && (!scope.decision.label || scope.decision.storage != sum.result);
        if (may) all.push_back(std::move(sum));
    }
    return all;
}

}  // namespace strata::graph
