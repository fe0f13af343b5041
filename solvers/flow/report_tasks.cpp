// Forces, norms, and what a case compares its result with.
#include <algorithm>
#include <cmath>
#include <optional>

#include "solvers/flow/initial.hpp"
#include "solvers/flow/step.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// A part of a wall face, where other meshes have the rest.
WallPoint shared(WallPoint point, double share) {
    for (double& a : point.area) a *= share;
    return point;
}

template <int Dim>
void sum_walls(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const auto has_walls = [&grid = step.grid](int patch) {
        return std::any_of(grid.boundaries(patch).begin(), grid.boundaries(patch).end(),
                           [](const auto& one) { return is_wall(one.boundary->condition); });
    };
    Task task = in.task(step.named("forces"), step.zones());
    const auto geometry = task.need(step.geometry());
    const auto q = task.need(step.labels.q, step.layers(1).without_corners());
    const auto sums = task.contribute(l.wall_sums);
    const auto extremes = task.contribute(l.wall_extremes);
    const CellsComputed computed(l.overset, task);
    const std::optional<Rotor> rotor = step.settings.rotor();
    ScalarUse<StationSums> stations;
    if (rotor) stations = task.contribute(l.stations);
    task.on(has_walls).run([=, &grid = step.grid, scheme = step.scheme](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        for (const auto& [face, boundary] : grid.boundaries(here.patch))
            if (is_wall(boundary->condition))
                wall_points<Dim>(scheme.gas, *boundary, grid.motion(here.patch, here.step), face,
                                 of.nodes(here[geometry]), here[q], of.centres(here[geometry]),
                                 [&](const WallPoint& point) {
                                     const double share = computed.share(here, point.cell);
                                     if (share == 0) return;
                                     const WallPoint part = share == 1 ? point : shared(point, share);
                                     const double far = 1 / scheme.gas.gamma;
                                     add_point(part, far, scheme.axisymmetric, here[sums], here[extremes]);
                                     if (rotor) add_station(part, far, *rotor, here[stations]);
                                 });
    });
}

/// Against the far field or the exact solution, where the case asks for it.
template <int Dim>
void compare(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const VerifyKeys& v = step.settings.verify;
    if (v.uniform == 0 && v.error == 0) return;
    Task task = in.task(step.named("compare"), step.zones());
    const auto q = task.need(step.labels.q);
    const auto geometry = task.need(step.geometry());
    const CellsComputed computed(l.overset, task);
    ScalarUse<double> departure, squares, volume;
    if (v.uniform > 0) departure = task.contribute(l.departure);
    if (v.error > 0) squares = task.contribute(l.squared_error), volume = task.contribute(l.volume);
    task.run([=, &s = step.settings, exact = Initial(step.settings, Dim)](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const auto centres = of.centres(here[geometry]), volumes = of.volumes(here[geometry]);
        const double time = s.steady() ? 0 : s.time.step * static_cast<double>(here.step);
        const auto far = conserved_of<Dim>({1, s.velocity(Dim), 1 / s.flow.gamma, 0}, s.flow.gamma);
        double most = 0, sum = 0, all = 0;
        for_each(here.cells(), [&](int i, int j, int k) {
            if (!computed.known(here, {i, j, k})) return;
            if (v.uniform > 0)
                for (int c = 0; c < Dim + 2; ++c)
                    most = std::max(most, std::abs(here[q](i, j, k, c) - far[static_cast<std::size_t>(c)]));
            if (v.error == 0 || !computed.at(here, {i, j, k})) return;
            Real3 x{};
            for (int d = 0; d < Dim; ++d) x[static_cast<std::size_t>(d)] = centres(i, j, k, d);
            const double away = here[q](i, j, k, 0) - exact.at(x, time).rho;
            sum += away * away * volumes(i, j, k), all += volumes(i, j, k);
        });
        if (v.uniform > 0) here[departure] = most;
        if (v.error > 0) here[squares] = sum, here[volume] = all;
    });
}

}  // namespace

template <int Dim>
void declare_forces(const Step& step, Scope& in) {
    sum_walls<Dim>(step, in);
    compare<Dim>(step, in);
}

template void declare_forces<2>(const Step&, Scope&);
template void declare_forces<3>(const Step&, Scope&);

namespace {

Report make_report_labels(Graph& graph, const Settings& s) {
    Report r;
    const Scheme scheme = s.scheme();
    const auto number = [&](const char* name, int history = 0) {
        return graph.scalar<double>(name, {.history = history});
    };
    r.residual = number("residual"), r.residual_momentum = number("residual momentum");
    r.residual_energy = number("residual energy");
    if (scheme.is_sst())
        r.residual_model = {number("residual k"), number("residual omega")};
    else if (scheme.turbulent())
        r.residual_model = {number("residual nu")};
    r.lift = number("lift"), r.drag = number("drag"), r.moment = number("moment"), r.cfl = number("cfl");
    r.failures = number("failed steps", 1), r.largest_residual = number("largest residual", 1);
    if (s.rotor()) r.thrust = number("thrust"), r.power = number("power");
    r.time = number("time", 1);
    r.done = graph.scalar<std::int32_t>("done");
    return r;
}

}  // namespace

Report declare_report(Graph& graph, const Settings& s, const Stages& stages, const std::vector<Labels>& all,
                      const FlowZones& grid, const double* steered) {
    const Report r = make_report_labels(graph, s);
    const std::optional<Rotor> rotor = s.rotor();
    Task task = graph.step().once("report");
    struct Used {
        ScalarUse<const Norms> norms;
        ScalarUse<const double> share, verdict;
        ScalarUse<const WallSums> walls;
        CellsCounted cells;
    };
    std::vector<Used> levels;
    for (std::size_t n = 0; n < all.size(); ++n)
        levels.push_back({task.need(all[n].norms.last()), task.need(all[n].share.last()),
                          task.need(all[n].verdict.last()), task.need(all[n].wall_sums.last()),
                          CellsCounted(all[n].overset,
                                       grid.zones().all_cells() >>
                                           static_cast<std::size_t>(grid.dimensions()) * (all.size() - 1 - n),
                                       task)});
    const auto largest_before = task.need(r.largest_residual.previous()),
               failures_before = task.need(r.failures.previous());
    const auto make = [&](Scalar<double> label) { return task.make(label); };
    const auto residual = make(r.residual), momentum = make(r.residual_momentum),
               energy = make(r.residual_energy), lift = make(r.lift), drag = make(r.drag),
               moment = make(r.moment), cfl = make(r.cfl), largest = make(r.largest_residual),
               time = make(r.time), failures = make(r.failures);
    std::vector<ScalarUse<double>> model;
    for (const Scalar<double>& one : r.residual_model) model.push_back(make(one));
    ScalarUse<double> thrust, power;
    if (rotor) thrust = make(r.thrust), power = make(r.power);
    const auto done = task.make(r.done);
    task.run([=, &s, reference = s.reference_values(grid.dimensions())](Here& here) {
        const Stages::Place at = stages.at(here.step);
        const Used& used = levels[at.stage];
        const double cells = used.cells.in(here);
        const auto norm = [&](std::size_t n) { return std::sqrt(here[used.norms][n] / cells); };
        here[residual] = norm(0), here[momentum] = norm(1), here[energy] = norm(2);
        for (std::size_t m = 0; m < model.size(); ++m) here[model[m]] = norm(3 + m);
        here[largest] = std::max(at.iteration == 0 ? 0 : here[largest_before], here[residual]);
        here[failures] = here[failures_before] + here[used.verdict];
        const Coefficients::Part forces = coefficients(here[used.walls], reference).all;
        here[lift] = forces.lift, here[drag] = forces.drag, here[moment] = forces.pitch;
        if (rotor) {
            const RotorCoefficients all = rotor_coefficients(here[used.walls], *rotor);
            here[thrust] = all.thrust, here[power] = all.power;
        }
        here[cfl] = here[used.share] * s.cfl_at(s.steady() ? at.iteration : 0, *steered);
        here[time] = static_cast<double>(here.step) * (s.steady() ? 1 : s.time.step);
        const bool finest = at.stage + 1 == levels.size();
        here[done] =
            s.steady() && (here.step >= stages.end() || (finest && here[residual] < s.time.residual)) ? 1 : 0;
    });
    return r;
}

}  // namespace strata::flow
