// What patches cost, by declared work.
#include <algorithm>
#include <cstddef>

#include "core/graph/expand/assign/assigning.hpp"

namespace strata::graph::detail {

namespace {

constexpr double kFlops = 4e9, kBytes = 8e9;  // of a core, each second; only proportions matter
constexpr double kCall = 2e-7;                // seconds, of an operation besides its work

/// The rounds of a scope in each step; 0 for the start and what is in it.
double rounds(const Graph& graph, ScopeId of) {
    double all = 1;
    while (of) {
        const Scope& scope = graph.scopes()[of];
        if (scope.form() == Scope::Form::start) return 0;
        if (scope.form() == Scope::Form::subcycle) all *= static_cast<double>(scope.most());
        of = scope.parent();
    }
    return all;
}

/// Of a task: seconds of a call are call + cells * each_cell, and what its lists take.
struct TaskCost {
    double call = kCall, each_cell = 0;
    std::vector<const LabelInfo*> lists;
};

TaskCost cost_of(const Graph& graph, const TaskInfo& task) {
    TaskCost cost;
    const double flops = task.flops + task.particle_flops, bytes = task.bytes + task.particle_bytes;
    if (flops > 0 || bytes > 0) {
        cost.each_cell = std::max(flops / kFlops, bytes / kBytes);
        return cost;
    }
    for (const Use& use : task.uses) {
        const LabelInfo& label = graph.labels()[use.version.label];
        if (label.kind == Kind::scalar || label.family != task.family) continue;
        if (label.kind == Kind::list)
            cost.lists.push_back(&label);
        else
            cost.each_cell += static_cast<double>(label.bytes) * label.components / kBytes;
    }
    return cost;
}

}  // namespace

PatchCosts declared_costs(const Graph& graph) {
    PatchCosts costs, cells;  // of a plain family each patch counts as a cell
    for (const auto& family : graph.families()) {
        costs.emplace_back(static_cast<std::size_t>(family->patches()), kCall);
        auto& volumes = cells.emplace_back(costs.back().size(), 1.0);
        if (const auto* grid = dynamic_cast<const Grid*>(family.get()))
            for (std::size_t p = 0; p < volumes.size(); ++p)
                volumes[p] = static_cast<double>(grid->box(static_cast<int>(p)).volume());
    }
    for (const TaskInfo& task : graph.tasks()) {
        const double times = rounds(graph, task.scope);
        if (task.runs != Runs::on_patches || task.family == nullptr || times == 0) continue;
        const FamilyId f = number_of(graph, *task.family);
        const TaskCost cost = cost_of(graph, task);
        for (std::size_t p = 0; p < costs[f].size(); ++p) {
            const int patch = static_cast<int>(p);
            if (!task.runs_on(patch)) continue;
            double seconds = cost.call + cells[f][p] * cost.each_cell;
            for (const LabelInfo* list : cost.lists)
                seconds += static_cast<double>(list->entries(patch)) * static_cast<double>(list->bytes) *
                           list->components / kBytes;
            costs[f][p] += times * seconds;
        }
    }
    return costs;
}

}  // namespace strata::graph::detail
