#include "solvers/flow/tasks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "solvers/flow/grid/coarsen.hpp"
#include "solvers/flow/slice_frames.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// Copies of the state at the end of the step before, for dual time steps.
template <int Dim>
void keep_state(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task(step.named("keep"), step.zones());
    const auto now = task.need(l.q);
    const auto old = task.make(l.old);
    Perhaps nu;
    PerhapsWritten nu_old;
    if (step.turbulent()) nu = task.need(l.nu_tilde), nu_old = task.make(l.nu_old);
    task.run([=, turbulent = step.turbulent()](Here& here) {
        copy_cells(here.cells(), Dim + 2, here[now], here[old]);
        if (turbulent) copy_cells(here.cells(), 1, here[nu], here[nu_old]);
    });
}

/// The iterations of a dual time step, until the residual has fallen far enough.
Scope& within_step(const Step& step) {
    const Labels& l = step.labels;
    const TimeKeys& t = step.settings.time;
    Scope& inner = step.graph.step().repeat<std::array<double, 2>>(
        "dual time", l.drop.at(0), [most = t.drop](std::array<double, 2> drop) { return drop[0] <= most; },
        t.subiterations);
    Task task = inner.once(step.named("drop"));
    const auto norms = task.need(l.norms);
    const auto before = task.need(l.drop.previous());
    const auto now = task.make(l.drop);
    task.run([=](Here& here) {
        const double norm = std::sqrt(here[norms][0] + here[norms][1] + here[norms][2]);
        const double first = here.round == 0 ? norm : here[before][1];
        here[now] = {first > 0 ? norm / first : 0, first};
    });
    return inner;
}

/// Which stage is at work, and whether a new one begins: the number of the stage, and of the one that begins
/// or -1.
struct StageScalars {
    Scalar<std::int32_t> now, begins;
};
StageScalars follow_stages(Graph& graph, const Stages& stages) {
    const StageScalars all{graph.scalar<std::int32_t>("stage"),
                           graph.scalar<std::int32_t>("stage that begins")};
    Task task = graph.step().once("stages");
    const auto now = task.make(all.now), begins = task.make(all.begins);
    task.run([=](Here& here) {
        const Stages::Place at = stages.at(here.step);
        here[now] = static_cast<std::int32_t>(at.stage);
        here[begins] = at.iteration == 0 && at.stage > 0 ? here[now] : -1;
    });
    return all;
}

/// A steady flow on one grid after the other: each step is an iteration on one of them.
template <int Dim>
void iterate_on_all(const std::vector<Step>& levels, const Stages& stages) {
    Graph& graph = levels[0].graph;
    const StageScalars stage = follow_stages(graph, stages);
    for (std::size_t n = 0; n < levels.size(); ++n) {
        const auto number = static_cast<std::int32_t>(n);
        const Labels& l = levels[n].labels;
        Scope& scope = graph.step().when<std::int32_t>(levels[n].named("iteration"), stage.now.at(0),
                                                       [number](std::int32_t now) { return now == number; });
        if (n > 0) {
            Scope& before =
                graph.step().when<std::int32_t>(levels[n].named("begin"), stage.begins.at(0),
                                                [number](std::int32_t now) { return now == number; });
            declare_interpolation<Dim>(levels[n - 1], levels[n], before);
            scope.takes(l.q.at(1));
            if (levels[n].turbulent()) scope.takes(l.nu_tilde.at(1));
            if (levels[n].scheme.viscous()) scope.takes(l.viscosity.at(1));
        }
        declare_iteration<Dim>(levels[n], scope);
        declare_forces<Dim>(levels[n], scope);
    }
}

// The solver in one view.
template <int Dim>
Shown declare_tasks(const std::vector<Step>& levels) {
    const Step& step = levels.back();
    for (const Step& level : levels) {
        make_labels(level);
        declare_start<Dim>(level);
    }
    if (levels.size() > 1) {
        iterate_on_all<Dim>(levels, step.settings.stages());
    } else if (step.settings.steady()) {
        declare_iteration<Dim>(step, step.graph.step());
        declare_forces<Dim>(step, step.graph.step());
    } else {
        keep_state<Dim>(step);
        declare_iteration<Dim>(step, within_step(step));
        declare_forces<Dim>(step, step.graph.step());
    }
    return declare_shown<Dim>(step);
}

std::shared_ptr<const OriginValues> start_of(const Settings& s, const CaseSchema& keys,
                                             const GridSystem& system) {
    if (s.flow.start.empty()) return nullptr;
    auto values = std::make_shared<OriginValues>(system.source, found(s.flow.start, keys), Plot3dContent::q);
    if (const int there = values->file().form().dimensions; there != system.dimensions)
        keys.refuse("flow.start", fmt::format("the file is one of {} dimensions", there),
                    fmt::format("of {} dimensions, as the grid", system.dimensions));
    return values;
}

}  // namespace

std::shared_ptr<const Flow> declare(Graph& graph, const Settings& s, const CaseSchema& keys) {
    auto flow = std::make_shared<Flow>();
    const GridSystem system = case_grid(s, keys);
    const int dimensions = system.dimensions;
    const Stages stages = s.stages();
    if (s.output.probes.size() % static_cast<std::size_t>(dimensions) != 0)
        keys.refuse("output.probes", "a point has a number for each dimension",
                    fmt::format("{} a point", dimensions));
    flow->slices = case_slices(s, keys, dimensions);
    flow->boundaries = case_boundaries(s, keys, dimensions);
    flow->labels.resize(stages.count());
    const std::shared_ptr<const OriginValues> start = start_of(s, keys, system);
    std::vector<Step> levels;
    for (std::size_t n = 0; n < stages.count(); ++n) {
        const auto left = static_cast<int>(stages.count() - 1 - n);
        const std::string prefix = left == 0 ? "" : fmt::format("{} times coarser: ", 1 << left);
        flow->grids.push_back(std::make_unique<FlowZones>(graph, prefix + "flow",
                                                          left == 0 ? system : coarsened(system, 1 << left),
                                                          left, s, keys, flow->boundaries));
        levels.push_back(
            {graph, prefix, s, s.scheme(), *flow->grids.back(), flow->boundaries, start, flow->labels[n]});
    }
    flow->shown = dimensions == 2 ? declare_tasks<2>(levels) : declare_tasks<3>(levels);
    flow->report = declare_report(graph, s, stages, flow->labels, flow->grid());
    declare_force_means(graph, s, flow->report, flow->shown.means);
    return flow;
}

}  // namespace strata::flow
