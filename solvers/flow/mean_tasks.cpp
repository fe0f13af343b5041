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

/// Labels of means, of the same quantities in both lists; and the share of steps in which a cell was no hole.
struct MeanFields {
    std::vector<Field<double>> mean, rms;
    Field<double> known_share;
};

MeanFields make_mean_labels(const Step& step, MeanLabels& all) {
    MeanFields made;
    const auto label = [&](const std::string& name, int components) {
        return step.graph.field<double>(name, step.zones(), On::cells,
                                        {.components = components, .kept = true});
    };
    const int dimensions = step.grid.dimensions();
    for (const auto& [name, components] :
         {std::pair{"density", 1}, {"velocity", dimensions}, {"pressure", 1}}) {
        made.mean.push_back(label(fmt::format("mean {}", name), components));
        made.rms.push_back(label(fmt::format("rms {}", name), components));
        all.fields.insert(all.fields.end(), {made.mean.back(), made.rms.back()});
    }
    if (step.uncovers()) made.known_share = all.fields.emplace_back(label("share of steps in means", 1));
    return made;
}

/// All are zero before the first step.
void declare_no_means(const Step& step, const MeanLabels& all) {
    Task none = step.graph.start().task("no means", step.zones());
    std::vector<FieldUse<double>> made;
    for (const Field<double>& label : all.fields) made.push_back(none.make(label));
    none.run([made, dimensions = step.grid.dimensions()](Here& here) {
        for (std::size_t n = 0; n < made.size(); ++n)
            for (int c = 0; c < (n / 2 == 1 ? dimensions : 1); ++c)
                for_each(here.cells(), [&](int i, int j, int k) { here[made[n]](i, j, k, c) = 0; });
    });
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
    const MeanFields of = make_mean_labels(step, shown.means);
    declare_no_means(step, shown.means);
    const bool has_holes = bool(of.known_share);
    Task task = step.graph.step().task("means", step.zones());
    const auto q = task.need(step.labels.q.last());
    std::vector<FieldUse<double>> m, r;
    for (std::size_t n = 0; n < of.mean.size(); ++n)
        m.push_back(task.modify(of.mean[n])), r.push_back(task.modify(of.rms[n]));
    const auto share = task.modify(of.known_share);
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
