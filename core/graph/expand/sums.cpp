// Which sums of contributions are put together where they lie.
#include <algorithm>

#include "core/graph/expand/memory.hpp"

namespace strata::graph {

namespace {

const Storage& storage_of(const Resolved& resolved, int storage) {
    return resolved.storages[static_cast<std::size_t>(storage)];
}

/// Memory that one label has for itself, for one round.
bool alone(const Storage& storage) {
    return storage.labels.size() == 1 && storage.depth == 1 && !storage.kept;
}

}  // namespace

std::vector<SumInPlace> sums_in_place(const Graph& graph, const Resolved& resolved) {
    std::vector<SumInPlace> all;
    for (std::size_t c = 0; c < resolved.tasks.size(); ++c) {
        const ResolvedTask& combine = resolved.tasks[c];
        if (combine.what != ResolvedTask::What::combine || combine.uses.size() != 2) continue;
        SumInPlace sum;
        sum.combine = static_cast<int>(c);
        sum.result = combine.uses[0].storage, sum.windows = combine.uses[1].storage;
        sum.maker = combine.uses[1].maker;
        const Storage &result = storage_of(resolved, sum.result),
                      &windows = storage_of(resolved, sum.windows);
        const LabelInfo& label = label_of(graph, result);
        if (label.kind != Kind::field || !alone(result) || !alone(windows) || !windows.contributions)
            continue;
        bool may = true;
        for (std::size_t t = 0; t < resolved.tasks.size() && may; ++t) {
            const ResolvedTask& task = resolved.tasks[t];
            if (t == c) continue;
            bool uses = false;
            for (std::size_t u = 0; u < task.uses.size() && may; ++u) {
                const int storage = task.uses[u].storage;
                if (storage == sum.windows) may = static_cast<int>(t) == sum.maker;
                if (storage != sum.result) continue;
                uses = true;
                may = task.what == ResolvedTask::What::body && task.scope == combine.scope;
                if (!may) break;
                const TaskInfo& info = graph.tasks()[t];
                const Use& use = info.uses[u];
                may = info.family == label.family && info.runs == Runs::on_patches &&
                      use.relation == nullptr && use.width == Int3{} && use.version.back == 0;
            }
            if (uses) sum.users.push_back(static_cast<int>(t));
        }
        for (const ResolvedScope& scope : resolved.scopes)
            may = may && (scope.decision.label < 0 || scope.decision.storage != sum.result);
        if (may) all.push_back(std::move(sum));
    }
    return all;
}

}  // namespace strata::graph
