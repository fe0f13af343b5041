// strata-md CASE: what `strata run` starts for cases with solver = "md".
#include <fmt/format.h>

#include "core/run/driver/driver.hpp"
#include "solvers/md/files/checkpoint_state.hpp"
#include "solvers/md/files/trajectory.hpp"
#include "solvers/md/tasks.hpp"
#include "solvers/md/verify.hpp"

namespace {

using namespace strata;

std::vector<std::shared_ptr<graph::Frames>> trajectories(const md::Settings& s, const md::Labels& l) {
    md::Trajectory about;
    about.every = s.trajectory_every;
    about.time_step = s.step;
    about.femtoseconds = s.units->femtoseconds;
    about.kinds = s.names;
    about.digits = static_cast<int>(s.digits);
    for (std::size_t a = 0; a < 3; ++a) about.periodic[a] = s.outside.periodic(a);
    const auto box = [&s, l](const graph::Simulation& run) {
        md::Frame frame;
        frame.low = s.low;
        frame.length = s.length;
        if (!s.changes_volume()) return frame;
        frame.scale = run.value(l.scale);
        for (std::size_t a = 0; a < 3; ++a) frame.low[a] *= frame.scale, frame.length[a] *= frame.scale;
        return frame;
    };
    std::vector<std::shared_ptr<graph::Frames>> all;
    for (const std::string& form : s.trajectories)
        all.push_back(std::make_shared<md::TrajectoryFile>(
            form, about, md::TrajectoryLabels{l.set, l.id.id(), l.x.id(), l.species.id()}, box));
    return all;
}

std::string first_line(const graph::Simulation& run, const md::Settings& s, const md::Labels& l) {
    const std::int64_t atoms = run.value(l.atoms);
    const std::string skin = s.drift > 0 ? fmt::format(", skin {:.4g} {}", s.skin, s.units->length) : "";
    return fmt::format("{} atoms, {:.0f} degrees of freedom{}", atoms, s.degrees_of_freedom(atoms), skin);
}

std::optional<graph::ShownScale> shown_scale(const md::Settings& s, const md::Labels& l) {
    if (!s.changes_volume()) return std::nullopt;
    return graph::ShownScale{l.set, l.scale};
}

}  // namespace

int main(int argc, char** argv) {
    md::Settings settings;
    graph::CaseSchema keys = md::schema(settings);
    return graph::drive(argc, argv, keys, [&](graph::Graph& graph) -> graph::Solver {
        md::complete(settings, keys);
        const md::Labels l = md::declare(graph, settings);
        return {
            .time = l.time,
            .end = static_cast<double>(settings.steps) * settings.step,
            .time_unit = settings.units->time,
            .done = l.done,
            .first_line = [&settings,
                           l](const graph::Simulation& run) { return first_line(run, settings, l); },
            .series = l.thermo.all(),
            .series_every = settings.thermo,
            .series_due = [&settings](std::int64_t step) { return settings.due(step); },
            .fields = {l.x, l.v},
            .scale = shown_scale(settings, l),
            .frames = trajectories(settings, l),
            .facts = [&settings, l](const graph::Simulation& run) { return md::facts_of(run, settings, l); },
            .verify = [&settings, l](const graph::Finished& run) { return md::verify(run, l, settings); }};
    });
}
