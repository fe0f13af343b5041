#include "solvers/md/module.hpp"

#include <fmt/format.h>

#include "solvers/md/files/checkpoint_state.hpp"
#include "solvers/md/files/trajectory.hpp"
#include "solvers/md/verify.hpp"

namespace strata::md {

namespace {

std::vector<std::shared_ptr<graph::Frames>> trajectories(const Settings& s, const Labels& l) {
    Trajectory about;
    about.every = s.trajectory_every;
    about.time_step = s.step;
    about.femtoseconds = s.units->femtoseconds;
    about.kinds = s.names;
    about.digits = static_cast<int>(s.digits);
    for (std::size_t a = 0; a < 3; ++a) about.periodic[a] = s.outside.periodic(a);
    const auto box = [&s, l](const graph::Simulation& run) {
        Frame frame;
        frame.low = s.low;
        frame.length = s.length;
        if (!s.changes_volume()) return frame;
        frame.scale = run.value(l.scale);
        for (std::size_t a = 0; a < 3; ++a) frame.low[a] *= frame.scale, frame.length[a] *= frame.scale;
        return frame;
    };
    std::vector<std::shared_ptr<graph::Frames>> all;
    for (const std::string& name : s.trajectories)
        for (const TrajectoryForm& form : kTrajectoryForms)
            if (form.name == name)
                all.push_back(std::make_shared<TrajectoryFile>(
                    form, about, TrajectoryLabels{l.set, l.id.id(), l.x.id(), l.species.id()}, box));
    return all;
}

std::string first_line(const graph::Simulation& run, const Settings& s, const Labels& l) {
    const std::int64_t atoms = run.value(l.atoms);
    const std::string skin = s.drift > 0 ? fmt::format(", skin {:.4g} {}", s.skin, s.units->length) : "";
    return fmt::format("{} atoms, {:.0f} degrees of freedom{}", atoms, s.degrees_of_freedom(atoms), skin);
}

std::optional<graph::ShownScale> shown_scale(const Settings& s, const Labels& l) {
    if (!s.changes_volume()) return std::nullopt;
    return graph::ShownScale{l.set, l.scale};
}

}  // namespace

graph::Solver Md::declare(const graph::ModuleGraph& part) {
    part.clock().exact(settings_.step);
    labels_ = md::declare(*part, settings_);
    const Settings& s = settings_;
    const Labels& l = labels_;
    return {.time = l.time,
            .end = static_cast<double>(s.steps) * s.step,
            .time_unit = s.units->time,
            .done = l.done,
            .first_line = [&s, l](const graph::Simulation& run) { return first_line(run, s, l); },
            .series = l.thermo.all(),
            .series_every = s.thermo,
            .series_due = [&s](std::int64_t step) { return s.due(step); },
            .fields = {l.x, l.v},
            .scale = shown_scale(s, l),
            .frames = trajectories(s, l),
            .facts = [&s, l](const graph::Simulation& run) { return facts_of(run, s, l); },
            .verify = [&s, l](const graph::Finished& run) { return verify(run, l, s); }};
}

}  // namespace strata::md
