// The step, in the order of the Uintah paper's Figure 2: M2G, CST, CIF, SEM, IA, G2M.
//
// Velocities are those in the middle between two steps: stresses follow positions, accelerations change
// velocities by the mean of the time step before and this one, and these move the points (central
// differences: Belytschko, Liu and Moran, Nonlinear Finite Elements for Continua and Structures, 2000,
// box 6.1). Stress is updated first ("USF": Bardenhagen, J. Comput. Phys. 180 (2002) 383).
#include "solvers/mpm/tasks.hpp"

#include <fmt/format.h>

#include "solvers/mpm/exact.hpp"
#include "solvers/mpm/fill.hpp"
#include "solvers/mpm/points.hpp"
#include "solvers/mpm/quadrature.hpp"
#include "solvers/mpm/step.hpp"
#include "solvers/mpm/surface.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// Of the points, and of cells what is summed over their points.
void make_particle_labels(const Step& step) {
    Graph& graph = step.graph;
    Labels& l = step.labels;
    const Settings& s = step.settings;
    l.set = graph.particles("points", step.grid);
    l.id = graph.particle_id(l.set);
    l.x = graph.particle<double>(l.set, "position", {.components = 3, .unit = "m"});
    l.v = graph.particle<double>(l.set, "velocity", {.components = 3, .unit = "m/s"});
    l.mass = graph.particle<double>(l.set, "mass", {.unit = "kg"});
    l.volume = graph.particle<double>(l.set, "volume", {.unit = "m3", .about = "undeformed"});
    l.F = graph.particle<double>(l.set, "deformation gradient", {.components = 9});
    l.material = graph.particle<std::int32_t>(l.set, "material");
    if (!s.fused)
        l.stress = graph.particle<double>(l.set, "Kirchhoff stress",
                                          {.components = 6, .unit = "Pa", .about = "xx, yy, zz, xy, yz, zx"});
    if (s.by_cells()) {
        l.J = graph.particle<double>(l.set, "volume ratio", {.unit = "1", .about = "det F"});
        l.cell_sums = graph.field<double>("stress and volume of cells", step.grid, On::cells,
                                          {.components = kCellSums, .unit = "J, m3, m4"});
    }
    if (s.transfer() == Transfer::apic)
        l.C = graph.particle<double>(l.set, "affine velocity", {.components = 9, .unit = "1/s"});
    if (s.plastic()) {
        l.elastic = graph.particle<double>(l.set, "elastic Cauchy-Green tensor",
                                           {.components = 6, .about = "left: xx, yy, zz, xy, yz, zx"});
        l.alpha = graph.particle<double>(l.set, "equivalent plastic strain");
    }
    if (s.contact()) l.group = graph.particle<std::int32_t>(l.set, "contact group");
    if (s.exact()) l.X = graph.particle<double>(l.set, "undeformed position", {.components = 3, .unit = "m"});
    if (!s.surfaces.empty()) {
        l.area = graph.particle<double>(l.set, "loaded area", {.components = 3, .unit = "m2"});
        l.surface = graph.particle<std::int32_t>(l.set, "loaded surface");
    }
    if (s.loads()) l.load = graph.particle<double>(l.set, "load", {.components = 3, .unit = "N"});
}

void make_grid_labels(const Step& step) {
    Graph& graph = step.graph;
    Labels& l = step.labels;
    const Settings& s = step.settings;
    const Int3 beyond = s.shape == "linear" ? Int3{} : step.beyond_walls();
    const auto field = [&](const char* name, int components, const char* unit) {
        return graph.field<double>(name, step.grid, step.on(),
                                   {.components = components * s.groups(), .border = beyond, .unit = unit});
    };
    l.nodal = field("momentum and mass of grid points", 4, "kg m/s, kg");
    if (s.contact()) l.gradient = field("mass gradient at grid points", 3, "kg/m");
    l.force = field("force on grid points", 3, "N");
    l.velocity = field("velocity of grid points", 3, "m/s");
    l.acceleration = field("acceleration of grid points", 3, "m/s2");
    l.next_velocity = field("next velocity of grid points", 3, "m/s");
    if (s.affine_gradient()) l.affine = field("next velocity of grid points for gradients", 3, "m/s");
    if (s.transfer() == Transfer::flip) l.change = field("velocity change of grid points", 3, "m/s");
}

void make_scalar_labels(const Step& step) {
    Graph& graph = step.graph;
    Labels& l = step.labels;
    const Settings& s = step.settings;
    l.wave_rate = graph.scalar<double>("waves' cells a second", Reduce::max, 0, {.unit = "1/s"});
    l.flow_rate =
        graph.scalar<double>("points' cells a second", Reduce::max, 0, {.history = 1, .unit = "1/s"});
    const auto total = [&](const char* name, const char* unit) {
        return graph.scalar<double>(name, Reduce::sum, 0, {.history = 1, .unit = unit});
    };
    l.kinetic = total("kinetic energy", "J");
    l.strain = total("strain energy", "J");
    l.work = graph.scalar<double>("work of loads", {.history = 1, .unit = "J"});
    l.work_of_step = total("work of loads in a step", "J");
    l.first_energy = graph.scalar<double>("first energy", {.history = 1, .unit = "J"});
    if (s.rubs()) {
        l.rubbed = graph.scalar<double>("work of friction", {.history = 1, .unit = "J"});
        l.rubbed_in_step = total("work of friction in a step", "J");
    }
    l.momentum_x = total("momentum x", "kg m/s");
    l.momentum_y = total("momentum y", "kg m/s");
    l.momentum_z = total("momentum z", "kg m/s");
    if (s.plastic()) l.plastic_work = total("plastic work", "J");
    if (s.exact()) {
        l.error = total("squares of errors", "kg m2");
        l.total_mass = total("mass of all", "kg");
    }
}

/// Of each body: the force on each particle at its lower and upper end.
std::vector<std::array<double, 2>> pulls_of(const Settings& s) {
    std::vector<std::array<double, 2>> pulls;
    if (s.pull != 0)
        for (int b = 0; b < static_cast<int>(s.bodies.size()); ++b)
            pulls.push_back({s.pull / static_cast<double>(particles_at_end(s, b, false)),
                             s.pull / static_cast<double>(particles_at_end(s, b, true))});
    return pulls;
}

void fill_bodies(const Step& step) {
    const Labels& l = step.labels;
    const Settings& s = step.settings;
    Task task = step.graph.start().task("fill bodies", step.grid);
    const auto id = task.make(l.id);
    const auto x = task.make(l.x), v = task.make(l.v), mass = task.make(l.mass), volume = task.make(l.volume),
               F = task.make(l.F);
    const auto material = task.make(l.material);
    const auto flow = task.contribute(l.flow_rate);
    ListUse<double> C, X, load, elastic, alpha, area;
    ListUse<std::int32_t> group, surface;
    if (!s.surfaces.empty()) area = task.make(l.area), surface = task.make(l.surface);
    if (s.contact()) group = task.make(l.group);
    if (s.plastic()) elastic = task.make(l.elastic), alpha = task.make(l.alpha);
    if (s.transfer() == Transfer::apic) C = task.make(l.C);
    if (s.exact()) X = task.make(l.X);
    if (s.loads()) load = task.make(l.load);
    task.run([=, &s, set = l.set, loaded = surface_points(s), pulls = pulls_of(s)](Here& here) {
        const std::vector<Particle> all = fill(s, here.grid(), here.patch, loaded);
        const Real3 h = s.spacing();
        const double part = h[0] * h[1] * h[2] / static_cast<double>(s.particles_per_cell());
        here.create(set, static_cast<std::int64_t>(all.size()));
        double fastest = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const Particle& p = all[i];
            const auto at = static_cast<std::int64_t>(i);
            const Body& body = s.bodies[static_cast<std::size_t>(p.body)];
            here[id][at] = p.id;
            here[material][at] = body.material;
            if (s.contact()) here[group][at] = body.group;
            here[volume][at] = part * p.share;
            here[mass][at] = part * p.share * s.materials[static_cast<std::size_t>(body.material)].density;
            for (int c = 0; c < 3; ++c) {
                const auto d = static_cast<std::size_t>(c);
                here[x].component(c)[i] = p.x[d];
                here[v].component(c)[i] = p.v[d];
                for (int a = 0; a < 3; ++a) here[F].component(3 * c + a)[i] = c == a ? p.stretch[d] : 0;
                if (s.transfer() == Transfer::apic)
                    for (int a = 0; a < 3; ++a) here[C].component(3 * c + a)[i] = 0;
                if (s.plastic()) {
                    here[elastic].component(c)[i] = p.stretch[d] * p.stretch[d];
                    here[elastic].component(3 + c)[i] = 0;
                }
                if (s.exact()) here[X].component(c)[i] = p.X[d];
                if (s.loads()) here[load].component(c)[i] = 0;
                fastest = std::max(fastest, std::abs(p.v[d]) / h[d]);
            }
            if (s.plastic()) here[alpha][at] = 0;
            if (!s.surfaces.empty()) {
                here[surface][at] = p.surface;
                for (int c = 0; c < 3; ++c) here[area].component(c)[i] = p.area[static_cast<std::size_t>(c)];
            }
            if (p.pulled != 0)
                here[load].component(0)[i] =
                    p.pulled * pulls[static_cast<std::size_t>(p.body)][p.pulled > 0 ? 1 : 0];
        }
        here[flow] = fastest;
    });
}

/// The length of the step: cfl cells for the fastest wave on the fastest point, and not beyond the end.
void advance_clock(const Step& step, const ModuleClock& clock, Task task) {
    const Labels& l = step.labels;
    const Real3 h = step.settings.spacing();
    double plates = 0;  // cells a second of the fastest
    for (const Plate& plate : step.settings.plates)
        for (std::size_t d = 0; d < 3; ++d) plates = std::max(plates, std::abs(plate.velocity[d]) / h[d]);
    const auto length = [&](Task& task) {
        return [=, &s = step.settings, wave = task.need(l.wave_rate),
                flow = task.need(l.flow_rate.previous()), cfl = step.cfl](Here& here) {
            return s.bounded(*cfl / (here[wave] + std::max(here[flow], plates)));
        };
    };
    clock.advance(std::move(task), {l.time, l.dt}, step.settings.end, length);
}

/// What is carried from step to step, for the balance of energy.
void add_up_energy(const Step& step, const ModuleClock& clock) {
    const Labels& l = step.labels;
    Task task = step.graph.step().once("add up energy");
    const auto kinetic = task.need(l.kinetic), strain = task.need(l.strain),
               worked = task.need(l.work.previous()), done = task.need(l.work_of_step.previous()),
               before = task.need(l.first_energy.previous());
    const auto work = task.make(l.work), first = task.make(l.first_energy);
    const bool rubs = step.settings.rubs();
    ScalarUse<const double> rubbed_before, rubbed_in_step;
    ScalarUse<double> rubbed;
    if (rubs) {
        rubbed_before = task.need(l.rubbed.previous()),
        rubbed_in_step = task.need(l.rubbed_in_step.previous());
        rubbed = task.make(l.rubbed);
    }
    task.run([=, is_first = clock.first_step(task, {l.time, l.dt})](Here& here) {
        if (rubs) here[rubbed] = here[rubbed_before] + here[rubbed_in_step];
        here[work] = here[worked] + here[done];
        here[first] = is_first(here) ? here[kinetic] + here[strain] : here[before];
    });
}

/// Manufactured solutions: the force that keeps them going, at the beginning of the step.
void make_body_force(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("body force", step.grid);
    const auto X = task.need(l.X);
    const auto mass = task.need(l.mass);
    const auto time = task.need(l.time.previous());
    const auto load = task.modify(l.load);
    task.run([=, &s = step.settings](Here& here) {
        for (std::int64_t i = 0; i < here[mass].size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Motion m = exact_motion(
                s, {here[X].component(0)[at], here[X].component(1)[at], here[X].component(2)[at]},
                here[time]);
            for (int c = 0; c < 3; ++c)
                here[load].component(c)[at] = here[mass][i] * m.force[static_cast<std::size_t>(c)];
        }
    });
}

/// Pressure and traction on surfaces, as they are at the beginning of the step.
void make_surface_loads(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("surface loads", step.grid);
    const auto F = task.need(l.F);
    const auto area = task.need(l.area);
    const auto surface = task.need(l.surface);
    const auto time = task.need(l.time.previous());
    const auto load = task.modify(l.load);
    task.run([=, &s = step.settings](Here& here) {
        const double share = load_share(s, here[time]);
        for (std::int64_t i = 0; i < here[surface].size(); ++i) {
            if (here[surface][i] < 0) continue;
            const auto at = static_cast<std::size_t>(i);
            double gradient[9];
            for (int c = 0; c < 9; ++c) gradient[c] = here[F].component(c)[at];
            const Real3 force = surface_force(
                s.surfaces[static_cast<std::size_t>(here[surface][i])], gradient,
                {here[area].component(0)[at], here[area].component(1)[at], here[area].component(2)[at]},
                share);
            for (int c = 0; c < 3; ++c) here[load].component(c)[at] = force[static_cast<std::size_t>(c)];
        }
    });
}

/// How far material points are from the exact solution at the end.
void find_error(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().task("compare with exact solution", step.grid);
    const auto X = task.need(l.X.last()), x = task.need(l.x.last()), mass = task.need(l.mass.last());
    const auto time = task.need(l.time);
    const auto error = task.contribute(l.error), total = task.contribute(l.total_mass);
    task.run([=, &s = step.settings](Here& here) {
        if (here[time] < s.end) return;  // only the last step's is asked for
        for (std::int64_t i = 0; i < here[mass].size(); ++i) {
            const auto at = static_cast<std::size_t>(i);
            const Real3 from{here[X].component(0)[at], here[X].component(1)[at], here[X].component(2)[at]};
            const Motion m = exact_motion(s, from, here[time]);
            for (std::size_t d = 0; d < 3; ++d) {
                double away = here[x].component(static_cast<int>(d))[at] - from[d] - m.u[d];
                if (s.wall(d) == Wall::periodic) away -= std::round(away / s.size[d]) * s.size[d];
                here[error] += here[mass][i] * away * away;
            }
            here[total] += here[mass][i];
        }
    });
}

}  // namespace

Labels make_labels(const ModuleGraph& part, const Settings& settings) {
    Labels labels;
    labels.grid = &part->grid("grid", settings.grid());
    labels.cfl = settings.steered_cfl(*part);
    const Step step{*part, settings, *labels.grid, labels, labels.cfl};
    make_particle_labels(step);
    make_grid_labels(step);
    make_scalar_labels(step);
    const Clock clock = part.clock().labels(1);
    labels.time = clock.time, labels.dt = clock.dt;
    return labels;
}

// The solver in one view.
void declare(const ModuleGraph& part, const Settings& settings, Labels& labels) {
    part->in_program_order();
    const Step step{*part, settings, *labels.grid, labels, labels.cfl};
    const ModuleClock& clock = part.clock();
    const Task advance = clock.task();
    fill_bodies(step);
    part.stage("filled");

    part.stage("begun");
    if (settings.manufactured()) make_body_force(step);
    if (!settings.surfaces.empty()) make_surface_loads(step);
    make_growth_labels(step);
    declare_m2g(step);
    declare_velocity(step);
    if (settings.fused) {
        declare_cst_and_cif(step);
    } else {
        declare_cst(step);
        declare_cif(step);
    }
    advance_clock(step, clock, advance);
    declare_sem(step);
    declare_ia(step);
    declare_g2m(step);
    part.stage("moved");
    add_up_energy(step, clock);
    look_for_growth(step);
    part->step().relocate(labels.set, labels.x.last());
    if (settings.exact()) find_error(step);
}

Labels declare(Graph& graph, const Settings& settings) {
    const ModuleGraph alone(graph);
    Labels labels = make_labels(alone, settings);
    declare(alone, settings, labels);
    return labels;
}

}  // namespace strata::mpm
