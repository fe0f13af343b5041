// Means over time, and root-mean-square departures from them, of the state and of forces. Each step brings
// them up to date by the recurrence of Welford, B. P. (1962), Technometrics 4(3): no sums that grow.
//
// Means are those of the cells of a mesh, which go with it where it moves; velocities, seen at rest, are
// along the axes that the mesh has at first, so that those of a flow which is steady on a mesh that turns do
// not mix. Cells of meshes that overlap and move may be holes in some steps: these do not count, and the
// share of the others is said.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/steps.hpp"
#include "solvers/flow/boundary/states.hpp"
#include "solvers/flow/step.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// Value number n of a series, n >= 1: its mean and root-mean-square departure with it.
void include(double value, double n, double& mean, double& rms) {
    const double before = value - mean;
    mean += before / n;
    const double square = rms * rms;
    rms = std::sqrt(std::max(0.0, square + (before * (value - mean) - square) / n));
}

}  // namespace

std::int64_t Settings::averaged(std::int64_t step) const {
    if (output.average < 0) return 0;
    if (!steady()) return step - steps_within(output.average, time.step);
    std::int64_t before = 0;
    for (const std::int64_t iterations : time.sequence) before += iterations;
    return step - std::max(before, static_cast<std::int64_t>(output.average));
}

template <int Dim>
void declare_means(const Step& step, Shown& shown) {
    if (step.settings.output.average < 0) return;
    Graph& graph = step.graph;
    MeanLabels& all = shown.means;
    std::vector<Field<double>> mean, rms;
    for (const auto& [name, components] : {std::pair{"density", 1}, {"velocity", Dim}, {"pressure", 1}}) {
        const auto field = [&, name = name, components = components](const char* what) {
            return graph.field<double>(fmt::format("{} {}", what, name), step.zones(), On::cells,
                                       {.components = components, .kept = true});
        };
        mean.push_back(field("mean")), rms.push_back(field("rms"));
        all.fields.insert(all.fields.end(), {mean.back(), rms.back()});
    }
    const bool has_holes = step.uncovers();
    Field<double> known_share;
    if (has_holes)
        known_share = all.fields.emplace_back(
            graph.field<double>("share of steps in means", step.zones(), On::cells, {.kept = true}));
    Task none = graph.start().task("no means", step.zones());
    std::vector<FieldUse<double>> made;
    for (const Field<double>& label : all.fields) made.push_back(none.make(label));
    none.run([made](Here& here) {
        for (std::size_t n = 0; n < made.size(); ++n)
            for (int c = 0; c < (n / 2 == 1 ? Dim : 1); ++c)
                for_each(here.cells(), [&](int i, int j, int k) { here[made[n]](i, j, k, c) = 0; });
    });

    Task task = graph.step().task("means", step.zones());
    const auto q = task.need(step.labels.q.last());
    std::vector<FieldUse<double>> m, r;
    for (std::size_t n = 0; n < mean.size(); ++n)
        m.push_back(task.modify(mean[n])), r.push_back(task.modify(rms[n]));
    FieldUse<double> share;
    if (has_holes) share = task.modify(known_share);
    const CellsComputed cells(step.labels.overset, task);
    task.run([=, &s = step.settings, &grid = step.grid, gamma = step.scheme.gas.gamma](Here& here) {
        const std::int64_t count = s.averaged(here.step);
        if (count <= 0) return;
        const auto steps = static_cast<double>(count);
        geometry::Rigid to_mesh;
        if (grid.moves())
            to_mesh =
                grid.motions().placed(grid.mesh_of(grid.zones().zone_of(here.patch)), here.step).inverse();
        for_each(here.cells(), [&](int i, int j, int k) {
            const bool known = cells.known(here, {i, j, k});
            double n = steps;  // in which the cell was no hole
            if (has_holes) {
                double& part = here[share](i, j, k);
                n = std::round(part * (steps - 1)) + (known ? 1 : 0);
                part = n / steps;
            }
            if (!known) return;  // a hole has none
            FlowState w = state_at<Dim>(gamma, here[q], {i, j, k});
            if (grid.moves()) w.u = to_mesh.vector(w.u);
            include(w.rho, n, here[m[0]](i, j, k), here[r[0]](i, j, k));
            for (int d = 0; d < Dim; ++d)
                include(w.u[static_cast<std::size_t>(d)], n, here[m[1]](i, j, k, d), here[r[1]](i, j, k, d));
            include(w.p, n, here[m[2]](i, j, k), here[r[2]](i, j, k));
        });
    });
}

void declare_force_means(Graph& graph, const Settings& s, const Report& report, MeanLabels& all) {
    if (s.output.average < 0) return;
    Task task = graph.step().once("means of forces");
    struct One {
        ScalarUse<const double> now, mean_before, rms_before;
        ScalarUse<double> mean, rms;
    };
    std::vector<One> forces;
    for (const auto& [name, of] :
         {std::pair{"lift", report.lift}, {"drag", report.drag}, {"moment", report.moment}}) {
        const auto mean = graph.scalar<double>(fmt::format("mean {}", name), {.history = 1});
        const auto rms = graph.scalar<double>(fmt::format("rms {}", name), {.history = 1});
        forces.push_back({task.need(of), task.need(mean.previous()), task.need(rms.previous()),
                          task.make(mean), task.make(rms)});
        all.forces.insert(all.forces.end(), {mean, rms});
    }
    task.run([=, &s](Here& here) {
        const std::int64_t count = s.averaged(here.step);
        for (const One& one : forces) {
            double mean = here[one.mean_before], rms = here[one.rms_before];
            if (count > 0) include(here[one.now], static_cast<double>(count), mean, rms);
            here[one.mean] = mean, here[one.rms] = rms;
        }
    });
}

template void declare_means<2>(const Step&, Shown&);
template void declare_means<3>(const Step&, Shown&);

}  // namespace strata::flow
