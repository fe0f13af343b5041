// Which sums of contributions are put together where they lie, and the contributions of each sum.
#include "core/graph/expand/sums.hpp"

#include <algorithm>

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
        const TaskId body = resolved.tasks[sum.maker].task;
        if (!graph.tasks()[body].where.empty()) continue;
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
                may = info.family == label.family && info.runs == Runs::on_patches && info.where.empty() &&
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

namespace detail {

std::vector<Contributor> contributors(const PlanInputs& in, TaskId task) {
    const ResolvedTask& total = in.task(task);
    std::vector<Contributor> all;
    for (const TaskId t : in.resolved.tasks.ids()) {
        if (!in.is(t, ResolvedTask::What::body) || in.task(t).scope != total.scope) continue;
        const std::vector<Use>& uses = in.info(t).uses;
        for (std::size_t u = 0; u < uses.size(); ++u)
            if ((uses[u].access == Access::sum || uses[u].access == Access::contribute) &&
                uses[u].version.label == total.completed.label)
                all.push_back({t, static_cast<int>(u)});
    }
    std::stable_sort(all.begin(), all.end(), [&](const Contributor& a, const Contributor& b) {
        return in.info(a.task).name < in.info(b.task).name;
    });
    return all;
}

std::vector<Transfer> parts_of_sum(const PlanInputs& in, TaskId task, const std::vector<Contributor>& from,
                                   int patch) {
    const LabelInfo& of = in.completed(task);
    const auto& grid = static_cast<const Grid&>(*of.family);
    const Box own = owned(of, patch);
    std::vector<Transfer> parts;
    std::vector<Grid::Meeting> met;
    for (const auto& [maker, use] : from) {
        const Use& sums = in.use(maker, use);
        const StorageId windows = in.task(maker).uses[static_cast<std::size_t>(use)].storage;
        grid.find_owners_in(grid.zone_of(patch), own.grown(sums.width), of.on, of.border, met);
        for (const Grid::Meeting& each : met) {
            if (!in.runs_on(maker, each.patch)) continue;
            const Box theirs = owned(of, each.patch).shifted(each.shift);
            const Box both = common(sums.reached(theirs), own);
            if (!both.empty())
                parts.push_back(
                    {maker, windows, {each.patch, both.shifted(negative(each.shift)), each.shift}});
        }
    }
    return parts;
}

}  // namespace detail

}  // namespace strata::graph
