#include "solvers/transport/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/graph/kernels/walls.hpp"
#include "solvers/transport/exact.hpp"
#include "solvers/transport/kernels.hpp"

namespace strata::transport {

using namespace graph;

namespace {

constexpr std::array<On, 3> kFaces{On::faces_x, On::faces_y, On::faces_z};
/// First values are within 1 K of the background, and neither equation leads out of that range; advection
/// without a limiter overshoots it by some tenths. What is so far away, the step has made.
constexpr double kMostAway = 10;
constexpr double kNoNumber = std::numeric_limits<double>::infinity();
constexpr Int3 along(std::size_t d) { return {d == 0, d == 1, d == 2}; }

struct Step {
    const ModuleGraph& part;
    Graph& graph;
    const Settings& settings;
    const Grid& grid;
    Labels& labels;
};

void declare_labels(const Step& step) {
    auto& [part, graph, s, grid, labels] = step;
    const Int3 walls = s.periodic ? Int3{} : s.layers(s.heat() ? 1 : 2).width;
    labels.T = graph.field<double>(
        "temperature", grid, On::cells,
        {.history = 1, .border = walls, .unit = "K", .about = "or what the flow carries"});
    labels.rate = graph.scalar<double>("stable rate", Reduce::max, 0,
                                       {.unit = "1/s", .about = "1 / the largest stable step"});
    labels.report = kernels::Report::add(graph, "K", s.directions() == 3 ? "K m3" : "K m2");
    if (s.heat()) return;
    labels.T_star =
        graph.field<double>("temperature, first stage", grid, On::cells, {.border = walls, .unit = "K"});
    for (std::size_t d = 0; d < s.directions(); ++d)
        labels.v[d] =
            graph.field<double>(fmt::format("velocity {}", "xyz"[d]), grid, kFaces[d], {.unit = "m/s"});
}

void set_initial_values(const Step& step) {
    Task task = step.graph.start().task("initial temperature", step.grid);
    const auto T = task.make(step.labels.T);
    task.run([T, &s = step.settings](Here& here) {
        const Box& own = here.cells();
        const Profile profile(s, own, 0);
        const auto nx = static_cast<std::size_t>(own.extent(0));
        for (int k = own.lo[2]; k < own.hi[2]; ++k)
            for (int j = own.lo[1]; j < own.hi[1]; ++j)
                profile.row({own.lo[0], j, k}, {&here[T](own.lo[0], j, k), nx});
        kernels::extend_to_walls(here.cells(), here[T]);
    });
}

void set_flow(const Step& step) {
    for (std::size_t d = 0; d < step.settings.directions(); ++d)
        step.graph.start().fill(
            fmt::format("flow {}", "xyz"[d]), step.labels.v[d],
            [d, &s = step.settings](const Real3& x) { return face_velocity(s, static_cast<int>(d), x); });
}

/// Heat: dt <= 1 / (2 kappa sum 1/h^2). Advection: what leaves a cell through its faces is at most what is in
/// it.
void find_stable_rate(const Step& step) {
    const Settings& s = step.settings;
    Task task = step.graph.start().task("stable rate", step.grid);
    std::array<FieldUse<const double>, 3> v;
    for (std::size_t d = 0; d < s.directions() && !s.heat(); ++d)
        v[d] = task.need(step.labels.v[d], ghosts(along(d)));
    const auto rate = task.contribute(step.labels.rate);
    task.run([=, &s](Here& here) {
        const Real3 h = s.spacing();
        const auto of_cell = [&](int i, int j, int k) {
            double sum = 0;
            for (std::size_t d = 0; d < s.directions(); ++d) {
                const Int3 up = along(d);
                sum += s.heat() ? 2 * s.diffusivity / (h[d] * h[d])
                                : std::max(std::abs(here[v[d]](i, j, k)),
                                           std::abs(here[v[d]](i + up[0], j + up[1], k + up[2]))) /
                                      h[d];
            }
            here[rate] = std::max(here[rate], sum);
        };
        if (s.heat()) return of_cell(0, 0, 0);  // the same in all
        for_each(here.cells(), of_cell);
    });
}

/// dt = cfl / rate. `cfl` may be changed while the run goes on.
void advance_clock(const Step& step) {
    const Settings& s = step.settings;
    const ModuleClock& clock = step.part.clock();
    step.labels.clock = clock.labels();
    clock.advance(clock.task(), step.labels.clock, s.end, [&](Task& task) {
        return [&s, cfl = s.steered_cfl(step.graph), rate = task.need(step.labels.rate)](Here& here) {
            return s.bounded(*cfl * (1 / here[rate]));
        };
    });
}

/// Ends the run, and says where on the patch the values are farthest from the background.
[[noreturn]] void end_unstable(const Here& here, const Settings& s, const FieldView<double>& T) {
    Int3 at = here.cells().lo;
    double most = -1;
    for_each(here.cells(), [&](int i, int j, int k) {
        const double away = std::abs(T(i, j, k) - s.background);
        if (most < 0 || !(away <= most)) at = {i, j, k}, most = std::isnan(away) ? kNoNumber : away;
    });
    const Real3 x = here.place(at[0], at[1], at[2]);
    const double value = T(at[0], at[1], at[2]);
    here.fail(fmt::format(
        "the step is unstable: 'temperature' {} at ({:.6g}, {:.6g}{}) m, and the first values were within 1 "
        "K of "
        "{:g} (allowed: {:g} K). Steps are stable up to time.cfl = 1; the case has {:g}",
        std::isfinite(value) ? fmt::format("is {:.4g} K", value) : "is no number any more", x[0], x[1],
        s.directions() == 3 ? fmt::format(", {:.6g}", x[2]) : "", s.background, kMostAway, s.cfl));
}

/// What every step says of its result; values that no profile leads to end the run.
void report(Here& here, const Settings& s, const Summary& summary, const kernels::Report::Uses& into,
            const FieldView<double>& T) {
    const double away = std::max(summary.most() - s.background, s.background - summary.least());
    if (!std::isfinite(summary.sum()) || away > kMostAway) end_unstable(here, s, T);
    into.say(here, summary, s.spacing());
}

void conduct_heat(const Step& step) {
    const auto& [part, graph, s, grid, labels] = step;
    Task task = graph.step().task("conduct", grid);
    const auto dt = task.need(labels.clock.dt);
    const auto old = task.need(labels.T.previous(), s.layers(1).without_corners());
    const auto now = task.make(labels.T);
    const auto said = labels.report.contribute(task);
    task.work(13, 16).run([=, &s = s](Here& here) {
        const Real3 h = s.spacing();
        Real3 r{};  // 0: a direction that is not there
        for (std::size_t d = 0; d < s.directions(); ++d) r[d] = s.diffusivity * here[dt] / (h[d] * h[d]);
        const Summary summary = conduct(here.cells(), here[old], here[now], r, kernels::stores(here));
        kernels::copy_rows_to_walls(here.cells(), here[now]);
        report(here, s, summary, said, here[now]);
    });
}

/// `to` = (1 - weight) T of the step before + weight (`from` moved on by dt).
void advect_stage(const Step& step, const char* name, Field<double> from, Field<double> to, double weight) {
    const auto& [part, graph, s, grid, labels] = step;
    const bool last = to.id() == labels.T.id();
    Task task = graph.step().task(name, grid);
    const auto dt = task.need(labels.clock.dt);
    const auto time = task.need(labels.clock.time.previous());
    const auto before = task.need(labels.T.previous());
    const auto T = task.need(last ? from : from.previous(), s.layers(2).without_corners());
    std::array<FieldUse<const double>, 3> v;
    for (std::size_t d = 0; d < 3; ++d)  // a direction that is not there is multiplied with 0
        v[d] = d < s.directions() ? task.need(labels.v[d], ghosts(along(d))) : v[0];
    const auto next = task.make(to);
    const auto said = last ? labels.report.contribute(task) : kernels::Report::Uses();
    // T is both what is changed and what flows at first.
    task.work(54, 8 * ((last ? 3 : 2) + static_cast<double>(s.directions()))).run([=, &s = s](Here& here) {
        const Real3 h = s.spacing();
        const double factor = flow_factor(s, here[time] + (last ? here[dt] : 0));
        Real3 c{};
        for (std::size_t d = 0; d < s.directions(); ++d) c[d] = here[dt] / h[d];
        const Summary summary =
            advect(here.cells(), here[before], here[T], {here[v[0]], here[v[1]], here[v[2]]}, here[next],
                   weight, c, factor, kernels::stores(here));
        kernels::copy_rows_to_walls(here.cells(), here[next]);
        if (last) report(here, s, summary, said, here[next]);
    });
}

}  // namespace

Labels make_labels(const ModuleGraph& part, const Settings& settings) {
    Labels labels;
    labels.grid = &part->grid("grid", settings.shape());
    declare_labels({part, *part, settings, *labels.grid, labels});
    return labels;
}

// The solver in one view.
void declare(const ModuleGraph& part, const Settings& settings, Labels& labels) {
    part->in_program_order();
    const Step step{part, *part, settings, *labels.grid, labels};

    // At the start
    set_initial_values(step);
    if (!settings.heat()) set_flow(step);
    find_stable_rate(step);

    // In each step
    advance_clock(step);
    if (settings.heat()) {
        conduct_heat(step);
    } else {
        advect_stage(step, "advect, first stage", labels.T, labels.T_star, 1.0);
        advect_stage(step, "advect, second stage", labels.T_star, labels.T, 0.5);
    }
    part.stage("moved on");
}

Labels declare(Graph& graph, const Settings& settings) {
    const ModuleGraph alone(graph);
    Labels labels = make_labels(alone, settings);
    declare(alone, settings, labels);
    return labels;
}

}  // namespace strata::transport
