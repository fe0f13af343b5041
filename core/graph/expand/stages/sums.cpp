// Which sums of contributions are put together where they lie, and the contributions of each sum.
#include "core/graph/expand/stages/sums.hpp"

#include <algorithm>

namespace strata::graph {

namespace {

const Storage& storage_of(const Resolved& resolved, StorageId storage) { return resolved.storages[storage]; }

/// Memory that one label has for itself, for one round.
bool alone(const Storage& storage) { return storage.others.empty() && storage.depth == 1 && !storage.kept; }

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
        if (!graph.tasks()[body].where.empty() || windows.onto != nullptr) continue;
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
        return adds_before(in.info(a.task), in.info(b.task));
    });
    return all;
}

PartsOfSum::PartsOfSum(const PlanInputs& in, TaskId task)
    : in_(in), label_(in.completed(task)), from_(contributors(in, task)), scattered_(from_.size()) {
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const Use& use = in.use(from_[i].task, from_[i].use);
        if (use.is_scattered()) scatter(*use.relation, from_[i].task, scattered_[i]);
    }
}

/// In the order of the contributing patches, and for each in that of its pieces.
void PartsOfSum::scatter(const Relation& relation, TaskId maker, Scattered& into) const {
    into.resize(static_cast<std::size_t>(relation.source().patches()));
    const FamilyId family = number_of(in_.graph, relation.source());
    for (int patch = 0; patch < relation.target().patches(); ++patch) {
        if (!in_.runs_on(maker, patch)) continue;
        for (const Piece& piece : relation.pieces(patch, label_.on))
            if (in_.is_mine(family, piece.from))
                into[static_cast<std::size_t>(piece.from)].push_back(
                    {patch, piece.into(), negative(piece.shift)});
    }
}

std::vector<Contribution> PartsOfSum::of(int patch) {
    const auto& grid = static_cast<const Grid&>(*label_.family);
    const Box own = owned(label_, patch);
    std::vector<Contribution> parts;
    for (std::size_t i = 0; i < from_.size(); ++i) {
        const auto& [maker, use] = from_[i];
        const Use& sums = in_.use(maker, use);
        const StorageId windows = in_.task(maker).uses[static_cast<std::size_t>(use)].storage;
        if (sums.is_scattered()) {
            for (const SourceBox& piece : scattered_[i][static_cast<std::size_t>(patch)])
                parts.push_back({maker, windows, piece});
            continue;
        }
        grid.find_owners_in(grid.zone_of(patch), own.grown(sums.width), label_.on, label_.border, met_);
        for (const Grid::Meeting& each : met_) {
            if (!in_.runs_on(maker, each.patch)) continue;
            const Box theirs = owned(label_, each.patch).shifted(each.shift);
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
