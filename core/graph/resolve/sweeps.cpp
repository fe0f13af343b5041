// Orders within tasks: what may be needed upwind, and circles of patches that would wait for each other.
#include <algorithm>
#include <array>

#include "core/graph/declare/levels.hpp"
#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

class Sweep {
  public:
    Sweep(const Graph& graph, const TaskInfo& task) : graph_(graph), task_(task) {}

    void all() {
        std::array<const Use*, 3> first{};  // [axis]: the use that gave it an order
        for (const Use& use : task_.uses) {
            if (use.towards == Int3{}) continue;
            directions(use);
            if (use.access != Access::need) continue;
            if (!is_ordered_by(task_, use)) {
                taken(use);
                continue;
            }
            for (std::size_t a = 0; a < 3; ++a) {
                if (use.towards[a] == 0) continue;
                if (first[a] != nullptr && first[a]->towards[a] != use.towards[a])
                    throw both(*first[a], use, a);
                if (first[a] == nullptr) first[a] = &use;
            }
        }
        if (order_of(task_).towards != Int3{}) circle();
    }

  private:
    [[nodiscard]] Error refuse(const std::string& why) const {
        return Error(fmt::format("graph '{}': task '{}' {}", graph_.name(), task_.name, why));
    }
    [[nodiscard]] const std::string& name(const Use& use) const {
        return graph_.labels()[use.version.label].name;
    }

    void directions(const Use& use) const {
        if (task_.family == nullptr || !task_.where.empty())
            throw refuse(
                fmt::format("uses '{}' upwind, and does not run on all patches of a grid", name(use)))
                .remedy("let it run on all of them, and do nothing on some");
        const auto& grid = static_cast<const Grid&>(*task_.family);
        const GridShape& shape = grid.shape();
        for (std::size_t a = 0; a < 3; ++a) {
            if (use.towards[a] < -1 || use.towards[a] > 1)
                throw refuse(
                    fmt::format("uses '{}' upwind along {} with a sign that cannot be", name(use), "xyz"[a]))
                    .given(std::to_string(use.towards[a]))
                    .allowed("1 up, -1 down, 0 for an axis whose order does not matter");
            if (use.towards[a] != 0 && shape.periodic[a])
                throw refuse(fmt::format("uses '{0}' upwind along {1}, which is a circle: '{2}' is periodic "
                                         "along {1}, and each patch would wait for the next one all around",
                                         name(use), "xyz"[a], task_.family->name()))
                    .remedy(
                        "begin somewhere: a grid that is not periodic along the axis; or need what was there "
                        "before, with ghosts");
        }
        if (use.width == Int3{})
            throw refuse(fmt::format("uses '{}' upwind without a layer of ghosts", name(use)))
                .allowed("1 layer or more");
    }

    /// A need upwind of a version that the task does not make: of the one that it changes in place (as
    /// modify(label, upwind) declares), or a mistake.
    void taken(const Use& use) const {
        for (const Use& by : task_.uses) {
            if (by.version.label != use.version.label || by.access != Access::modify) continue;
            Int3 other = by.towards;
            for (int& sign : other) sign = -sign;
            if (by.version == use.version && other == use.towards) return;
            throw refuse(fmt::format("needs version {} of '{}' upwind, and makes version {}",
                                     use.version.version, name(use), made_by(by)))
                .remedy(fmt::format("need(label.at({}), upwind(...)) is what the task itself makes",
                                    made_by(by)));
        }
        throw refuse(fmt::format("needs '{}' upwind, which it does not make", name(use)))
            .remedy("upwind is what the same task makes on other patches; need what others make with ghosts");
    }

    [[nodiscard]] Error both(const Use& one, const Use& other, std::size_t a) const {
        const Use &up = one.towards[a] > 0 ? one : other, &down = one.towards[a] > 0 ? other : one;
        return refuse(
                   fmt::format("goes up and down along {} at once: it needs '{}' of the patches below, and "
                               "'{}' of those above, and each patch would wait for the next one",
                               "xyz"[a], name(up), name(down)))
            .remedy("make two tasks of it, one for each direction; or need one of them as it was before");
    }

    /// Patches of any sizes may wait for each other although every one only waits for lower ones: three boxes
    /// of which each lies in front of the next along another axis. And zones that are joined so that the axes
    /// of one go against those of the other, or around a ring.
    void circle() const {
        const auto& grid = static_cast<const Grid&>(*task_.family);
        if (grid.regular()) return;
        const std::vector<int> way = PatchLevels(grid, order_of(task_), is_ordered_in_place(task_)).circle();
        if (way.empty()) return;
        std::string text;
        for (const int patch : way) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", patch);
            if (grid.zones() > 1 || grid.joined()) text += fmt::format(" of zone {}", grid.zone_of(patch));
        }
        if (grid.joined())
            throw refuse(fmt::format("goes over patches of '{}' that wait for each other in a circle across "
                                     "joined faces: {}",
                                     grid.name(), text))
                .remedy(
                    "turn the zones so that the ordered axes go on in the same way beyond a join, or order "
                    "fewer axes; or sweep each zone by itself, upwind(...).within_zones(); or need what was "
                    "there before, with ghosts");
        throw refuse(fmt::format("goes over patches of '{}' that wait for each other in a circle: {}",
                                 grid.name(), text))
            .remedy(
                "divide the grid otherwise (boxes in rows and columns have no circles), or order fewer axes");
    }

    const Graph& graph_;
    const TaskInfo& task_;
};

/// A label's patches are stored one by one for frozen ghosts; an order needs them side by side.
void check_frozen(const Graph& graph) {
    const auto name = [](const TaskInfo* task) { return task->name; };
    VectorBy<LabelId, const TaskInfo*> frozen(graph.labels().size(), nullptr);
    for (const TaskInfo& task : graph.tasks())
        for (const Use& use : task.uses)
            if (is_frozen(use)) {
                frozen[use.version.label] = &task;
                if (!task.where.empty())
                    throw Error(
                        fmt::format("graph '{}': task '{}' modifies '{}' with frozen ghosts, and does not "
                                    "run on all patches",
                                    graph.name(), task.name, graph.labels()[use.version.label].name))
                        .remedy("let it run on all of them, and do nothing on some");
            }
    for (const TaskInfo& task : graph.tasks())
        for (const Use& use : task.uses)
            if (use.towards != Int3{} && frozen[use.version.label] != nullptr)
                throw Error(
                    fmt::format("graph '{}': '{}' has frozen ghosts in task '{}' and is needed upwind in "
                                "task '{}'",
                                graph.name(), graph.labels()[use.version.label].name,
                                name(frozen[use.version.label]), task.name))
                    .remedy(
                        "declare a label for each of the two; or modify(label, upwind(...)), whose ghosts on "
                        "the other sides are as they were before");
}

}  // namespace

void check_sweeps(const Graph& graph) {
    for (const TaskInfo& task : graph.tasks())
        if (std::any_of(task.uses.begin(), task.uses.end(),
                        [](const Use& use) { return use.towards != Int3{}; }))
            Sweep(graph, task).all();
    check_frozen(graph);
}

}  // namespace strata::graph::resolving
