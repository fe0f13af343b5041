#include "solvers/flow/module.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "solvers/flow/plot3d_frames.hpp"
#include "solvers/flow/slice_frames.hpp"
#include "solvers/flow/verify.hpp"

namespace strata::flow {

namespace {

std::string first_line(const graph::Simulation& run, const Flow& f) {
    const graph::Zones& zones = f.grid().zones();
    std::string text =
        fmt::format("{} cells in {} zones and {} patches", zones.all_cells(), zones.zones(), zones.patches());
    if (const auto& overset = f.finest().overset; overset != nullptr) {
        std::int64_t receptors = 0, orphans = 0;
        const auto counts = run.numbers(overset->found->counts);
        for (std::size_t n = 0; n < counts.size(); n += overset::kCounts) {
            receptors += counts[n + overset::kReceptors];
            orphans += counts[n + overset::kOrphans];
        }
        text += fmt::format(", {} receptors, {} orphans", receptors, orphans);
    }
    for (const std::string& note : f.grid().system().notes) text += "; " + note;
    return text;
}

}  // namespace

graph::Solver FlowModule::declare(const graph::ModuleGraph& part) {
    const Settings& settings = settings_;
    if (!settings.steady()) part.clock().exact(settings.time.step);
    const std::shared_ptr<const Flow> f = flow::declare(*part, settings, *keys_);
    const Labels& l = f->finest();
    const Report& r = f->report;
    std::vector<graph::Scalar<double>> series{r.residual, r.residual_momentum, r.residual_energy};
    std::vector<graph::ShownLabel> fields{l.q};
    if (settings.scheme().turbulent()) {
        series.insert(series.end(), r.residual_model.begin(), r.residual_model.end());
        fields.insert(fields.end(), {l.nu_tilde, l.distance});
    }
    graph::ShownLabel blank;  // holes are hidden
    if (l.overset != nullptr) blank = fields.emplace_back(l.overset->status());
    for (const auto& column : {r.lift, r.drag, r.moment, r.cfl, r.failures}) series.push_back(column);
    if (settings.rotor()) series.insert(series.end(), {r.thrust, r.power});
    graph::Solver solver{
        .time = r.time,
        .end = settings.steady() ? static_cast<double>(settings.stages().end()) : settings.time.end,
        .time_unit = settings.steady() ? "iterations" : "L/a",
        .first_line = [f](const graph::Simulation& run) { return first_line(run, *f); },
        .notice = fmt::format("{}", fmt::join(f->grid().system().turned, "; ")),
        .series = series,
        .fields = fields,
        .shapes = {graph::curvilinear("flow", {{f->grid().zones(), l.x, blank}})},
        .verify = [&settings, f](const graph::Finished& run) { return verify(run, *f, settings); }};
    if (settings.steady()) solver.done = r.done;
    const Shown& shown = f->shown;
    if (shown.walls) {
        solver.shapes.push_back(surface_shape(shown.surface, f->grid().dimensions()));
        solver.frames.push_back(surface_file(shown.surface, settings.output.surface));
    }
    if (!f->slices.empty()) solver.frames.push_back(slice_frames(f, settings));
    if (settings.output.plot3d > 0) solver.frames.push_back(plot3d_frames(f, settings));
    if (settings.output.vortices > 0)
        solver.fields.insert(solver.fields.end(), {shown.vorticity, shown.criterion});
    solver.series.insert(solver.series.end(), shown.probes.begin(), shown.probes.end());
    for (const graph::Field<double>& mean : shown.means.fields) solver.fields.emplace_back(mean);
    solver.series.insert(solver.series.end(), shown.means.forces.begin(), shown.means.forces.end());
    return solver;
}

}  // namespace strata::flow
