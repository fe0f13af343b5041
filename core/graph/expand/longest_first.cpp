#include "core/graph/expand/longest_first.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/graph/expand/calls/task_call.hpp"

namespace strata::graph {

namespace {

/// Calls each(list) for all lists of a block and of those inside.
template <class Each>
void each_list(Block& block, const Each& each) {
    for (auto& list : block.order) each(list);
    for (const auto& inside : block.inside) each_list(*inside, each);
}

/// The task of an operation that may change its place; null: it stays.
const TaskInfo* movable(const Op& op) {
    if (op.go != TaskCall::go || op.patch < 0) return nullptr;
    const TaskInfo* task = static_cast<const TaskCall*>(op.what)->shape->task;
    return task == nullptr || task->family == nullptr || order_of(*task).towards != Int3{} ? nullptr : task;
}

}  // namespace

CostClasses cost_classes(const VectorBy<FamilyId, std::vector<double>>& costs, const OwnPatches& own) {
    CostClasses classes;
    for (const FamilyId f : costs.ids()) {
        double mean = 0;
        for (const int patch : own[f])
            mean += costs[f][static_cast<std::size_t>(patch)] / static_cast<double>(own[f].size());
        std::vector<std::uint8_t> of(costs[f].size(), 0);
        for (const int patch : own[f]) {
            const auto p = static_cast<std::size_t>(patch);
            if (mean > 0 && costs[f][p] >= 2 * mean)
                of[p] = static_cast<std::uint8_t>(std::min(std::log2(costs[f][p] / mean), 200.0));
        }
        classes.push_back(std::move(of));
    }
    return classes;
}

bool LongestFirst::order(Program& program, const Graph& graph, CostClasses classes) {
    if (classes == classes_) return false;
    classes_ = std::move(classes);
    if (place_.empty()) {
        place_.resize(program.ops.size());
        each_list(program.step, [&](const std::vector<std::uint32_t>& list) {
            for (std::size_t i = 0; i < list.size(); ++i) place_[list[i]] = static_cast<std::uint32_t>(i);
        });
    }
    bool changed = false;
    each_list(program.step, [&](std::vector<std::uint32_t>& list) {
        for (auto begin = list.begin(); begin != list.end();) {
            const TaskInfo* task = movable(program.ops[*begin]);
            const auto end = task == nullptr ? begin + 1 : std::find_if(begin + 1, list.end(), [&](auto op) {
                return movable(program.ops[op]) != task;
            });
            const auto key = [&](std::uint32_t op) {
                const auto& of = classes_[number_of(graph, *task->family)];
                return std::pair(-of[static_cast<std::size_t>(program.ops[op].patch)], place_[op]);
            };
            const auto before = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
            if (end - begin > 1 && !std::is_sorted(begin, end, before)) {
                std::sort(begin, end, before);
                changed = true;
            }
            begin = end;
        }
    });
    return changed;
}

}  // namespace strata::graph
