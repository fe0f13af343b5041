#include "solvers/flow/tasks.hpp"

#include <fmt/format.h>

#include <cmath>

#include "methods/curvilinear/coarsen.hpp"
#include "solvers/flow/boundary_keys.hpp"
#include "solvers/flow/slice_frames.hpp"
#include "solvers/flow/step.hpp"
#include "solvers/flow/unmet.hpp"

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
    const auto nu = task.need(l.nu_tilde);
    const auto nu_old = task.make(l.nu_old);
    task.run([=, model = step.model_equations()](Here& here) {
        copy_cells(here.cells(), Dim + 2, here[now], here[old]);
        if (model > 0) copy_cells(here.cells(), model, here[nu], here[nu_old]);
    });
}

/// The iterations of a dual time step, until the residual has fallen far enough.
template <int Dim>
void iterate_within_step(const Step& step) {
    const Labels& l = step.labels;
    const TimeKeys& t = step.settings.time;
    Scope& inner = step.graph.step().repeat<std::array<double, 2>>(
        "dual time", l.drop, [most = t.drop](std::array<double, 2> drop) { return drop[0] <= most; },
        t.subiterations);
    declare_iteration<Dim>(step, inner);
    Task task = inner.once(step.named("drop"));
    const auto norms = task.need(l.norms);
    const auto before = task.need(l.drop.previous());
    const auto now = task.make(l.drop);
    task.run([=](Here& here) {
        const double norm = std::sqrt(here[norms][0] + here[norms][1] + here[norms][2]);
        const double first = here.round == 0 ? norm : here[before][1];
        here[now] = {first > 0 ? norm / first : 0, first};
    });
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

/// Everything that a step does on the finest of these grids, and with a multigrid cycle on the others: they
/// begin with the coarsest.
template <int Dim>
void iterate(const std::vector<Step>& grids, Scope& in) {
    declare_iteration<Dim>(grids.back(), in);
    if (grids.size() > 1) declare_correction<Dim>(grids, in);
    declare_forces<Dim>(grids.back(), in);
}

/// A steady flow on one grid after the other: each step is an iteration, or a cycle, on one of them. The
/// first `extra` grids serve cycles alone.
template <int Dim>
void iterate_on_all(const std::vector<Step>& grids, const Stages& stages) {
    Graph& graph = grids[0].graph;
    const std::size_t extra = grids.size() - stages.count();
    const auto most = static_cast<std::size_t>(grids[0].settings.time.multigrid);
    const StageScalars stage = follow_stages(graph, stages);
    const auto in_stage = [&](const char* what, std::size_t n, Scalar<std::int32_t> of) -> Scope& {
        const auto is_now = [number = static_cast<std::int32_t>(n - extra)](std::int32_t now) {
            return now == number;
        };
        return graph.step().when<std::int32_t>(grids[n].named(what), of, is_now);
    };
    // The state of the grid before, as the last step left it.
    for (std::size_t n = grids.size() - 1; n > extra; --n)
        declare_interpolation<Dim>(grids[n - 1], grids[n], in_stage("begin", n, stage.begins));
    for (std::size_t n = extra; n < grids.size(); ++n) {
        Scope& scope = in_stage("iteration", n, stage.now);
        const std::size_t coarsest = n + 1 - std::min(most, n + 1);
        iterate<Dim>({grids.begin() + static_cast<std::ptrdiff_t>(coarsest),
                      grids.begin() + static_cast<std::ptrdiff_t>(n) + 1},
                     scope);
    }
}

// The solver in one view.
template <int Dim>
Shown declare_tasks(const std::vector<Step>& levels) {
    const Step& step = levels.back();
    for (const Step& level : levels) make_labels(level);
    for (std::size_t n = levels.size(); n-- > 0;)
        declare_metrics<Dim>(levels[n], n + 1 < levels.size() ? &levels[n + 1] : nullptr);
    for (const Step& level : levels) declare_start<Dim>(level, &level == &step);
    if (step.settings.stages().count() > 1) {
        iterate_on_all<Dim>(levels, step.settings.stages());
    } else if (step.settings.steady()) {
        iterate<Dim>(levels, step.graph.step());
    } else {
        if (step.grid.moves()) declare_motion<Dim>(step, step.graph.step());
        keep_state<Dim>(step);
        if (step.uncovers()) declare_uncovering<Dim>(step);
        iterate_within_step<Dim>(step);
        declare_forces<Dim>(step, step.graph.step());
    }
    return declare_shown<Dim>(step);
}

std::shared_ptr<const OriginValues> start_of(const Settings& s, const CaseSchema& keys,
                                             const GridSystem& system) {
    if (s.flow.start.empty()) return nullptr;
    auto values = std::make_shared<OriginValues>(system.source, keys.path("flow.start", s.flow.start),
                                                 Plot3dContent::q);
    if (const int there = values->file().form().dimensions; there != system.dimensions)
        keys.refuse("flow.start", fmt::format("the file is one of {} dimensions", there),
                    fmt::format("of {} dimensions, as the grid", system.dimensions));
    return values;
}

}  // namespace

std::shared_ptr<const Flow> declare(Graph& graph, const Settings& s, const CaseSchema& keys) {
    graph.in_program_order();
    auto flow = std::make_shared<Flow>();
    const GridSystem system = case_grid(s, keys);
    const int dimensions = system.dimensions;
    const Stages stages = s.stages();
    if (dimensions == 2 && s.rotation_rate() != 0 && s.frame.axis != "z")
        keys.refuse("frame.axis", "a plane turns about an axis across it", "\"z\"");
    if (s.output.probes.size() % static_cast<std::size_t>(dimensions) != 0)
        keys.refuse("output.probes", "a point has a number for each dimension",
                    fmt::format("{} a point", dimensions));
    flow->slices = case_slices(s, keys, system);
    flow->boundaries = case_boundaries(s, keys, dimensions);
    check_met(s, keys, system, flow->boundaries);
    const auto grids = static_cast<std::size_t>(s.grids());
    flow->labels.resize(grids);
    const std::shared_ptr<const OriginValues> start = start_of(s, keys, system);
    const double* const cfl = s.steered_cfl(graph);
    std::vector<Step> levels;
    for (std::size_t n = 0; n < grids; ++n) {
        const auto left = static_cast<int>(grids - 1 - n);
        const std::string prefix = left == 0 ? "" : fmt::format("{} times coarser: ", 1 << left);
        flow->grids.push_back(std::make_unique<FlowZones>(graph, prefix + "flow",
                                                          left == 0 ? system : coarsened(system, 1 << left),
                                                          left, s, keys, flow->boundaries));
        // The points of a Q file are those of the finest grid; coarser ones get their state from it.
        levels.push_back({graph, prefix, s, s.scheme(), *flow->grids.back(), flow->boundaries,
                          left == 0 ? start : nullptr, flow->labels[n], cfl, n + stages.count() >= grids});
    }
    flow->shown = dimensions == 2 ? declare_tasks<2>(levels) : declare_tasks<3>(levels);
    const std::vector<Labels> of_stages(flow->labels.end() - static_cast<std::ptrdiff_t>(stages.count()),
                                        flow->labels.end());
    flow->report = declare_report(graph, s, stages, of_stages, flow->grid(), cfl);
    declare_force_means(graph, s, flow->report, flow->shown.means);
    return flow;
}

}  // namespace strata::flow
