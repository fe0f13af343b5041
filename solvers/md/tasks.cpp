// Velocity Verlet (W. C. Swope et al., J. Chem. Phys. 76 (1982) 637). Between steps positions and forces are
// those of the step's end, and velocities are half a step ahead: the second half of one step's kick and the
// first half of the next one's are one loop.
#include "solvers/md/tasks.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "solvers/md/barostat.hpp"
#include "solvers/md/move.hpp"
#include "solvers/md/start.hpp"
#include "solvers/md/step.hpp"
#include "solvers/md/thermo.hpp"

namespace strata::md {

using namespace graph;

namespace {

/// Of the barostat, of a minimisation, and of the motion of all atoms together.
void make_motion_labels(const Step& step) {
    Graph& graph = step.graph;
    Labels& l = step.labels;
    if (step.settings.changes_volume()) {
        l.scale = graph.scalar<double>("scale of the box", {.history = 1});
        l.work =
            graph.scalar<double>("work of the barostat", {.history = 1, .unit = step.settings.units->energy});
    }
    if (step.settings.remove_drift > 0) {
        l.momentum = graph.scalar<std::array<double, 3>>("momentum of all", Reduce::sum, 0, {.history = 1});
        l.together = graph.scalar<std::array<double, 3>>("velocity of all together");
        l.taken = graph.scalar<double>("kinetic energy of all together", {.history = 1});
    }
    if (step.settings.minimises()) {
        l.ahead = graph.particle<double>(l.set, "way ahead", {.components = 3});
        l.products = graph.scalar<std::array<double, 5>>("products of slopes", Reduce::sum);
        l.largest = graph.scalar<std::array<double, 3>>("largest slopes", Reduce::max);
        l.pace = graph.scalar<std::array<double, 4>>("pace");
        l.course = graph.scalar<std::array<double, 5>>("course");
        l.done = graph.scalar<std::int32_t>("done");
    }
}

void make_labels(const Step& step) {
    Graph& graph = step.graph;
    Labels& l = step.labels;
    l.set = graph.particles("atoms", step.grid, step.settings.beyond());
    l.id = graph.particle_id(l.set);
    l.x = graph.particle<double>(l.set, "position", {.components = 3, .unit = step.settings.units->length});
    l.v = graph.particle<double>(
        l.set, "velocity",
        {.components = 3, .unit = step.settings.units->velocity, .about = "half a step ahead of positions"});
    l.force = graph.particle<double>(l.set, "force", {.components = 3, .unit = step.settings.units->force});
    if (step.settings.eam) {
        l.density =
            graph.particle<double>(l.set, "electron density", {.about = "rho of the embedded-atom method"});
        l.slope = graph.particle<double>(l.set, "slope", {.about = "F' of the embedded-atom method"});
    }
    if (step.settings.several_kinds())
        l.species = graph.particle<std::int32_t>(l.set, "kind", {.about = "of each atom, from 0"});
    l.of_kinds = graph.scalars<std::int64_t>("atoms of kinds", Reduce::sum, step.settings.kinds.size());
    l.near = graph.particle_halo("near", l.x, step.settings.reach(), HaloSide::half);
    l.neighbours = graph.object<Neighbours>("neighbours", step.grid,
                                            {.bytes = [](const Neighbours& each) { return each.bytes(); }});
    l.atoms = l.mobile = graph.scalar<std::int64_t>("number of atoms", Reduce::sum);
    l.mobile_of_kinds = l.of_kinds;
    l.time = graph.scalar<double>("time", {.unit = step.settings.units->time});
    l.moved = graph.scalar<std::array<double, 2>>("farthest ways", Reduce::max, 0,
                                                  {.unit = step.settings.units->length + "2"});
    l.way = graph.scalar<double>("bound of ways", {.history = 1, .unit = step.settings.units->length});
    l.turn = graph.scalar<std::int32_t>("turn of lists");
    l.rebuilds = graph.scalar<std::int64_t>("rebuilds");
    l.sums = graph.scalars<double>("sums", Reduce::sum, kSums,
                                   {.history = step.settings.changes_volume() ? 1 : 0});
    l.thermo = make_thermo(graph, step.settings);
    make_motion_labels(step);
    make_outside_labels(step);
    if (step.settings.thermostat == "none") return;
    // Without the mass of the first kind: Settings::kinetic_unit() makes energies of it.
    const std::string heat = "(" + step.settings.units->velocity + ")2";
    l.heat = graph.scalar<double>("heat of the thermostat", {.history = 1, .unit = heat});
    if (step.settings.langevin())
        l.gained = graph.scalar<double>("heat in a step", Reduce::sum, 0, {.unit = heat});
    if (!step.settings.rescales()) return;
    l.half_kinetic = graph.scalar<double>("kinetic energy half a step ahead", Reduce::sum, 0,
                                          {.history = 1, .unit = heat});
    l.factor = graph.scalar<double>("factor of velocities");
    l.chain = graph.scalar<std::array<double, 2 * Chain::kLinks>>("chain of thermostats");
}

void put_atoms(const Step& step, Scalar<std::array<double, 3>> momentum) {
    const Labels& l = step.labels;
    Task task = step.graph.start().task("put atoms", step.grid);
    const auto id = task.make(l.id);
    const auto x = task.make(l.x), v = task.make(l.v);
    const auto count = task.contribute(l.atoms);
    const auto of_kinds = task.contribute(l.of_kinds);
    const auto sum = task.contribute(momentum);
    const auto species = task.make(l.species);
    std::function<std::vector<Atom>(Here&)> from_file;
    if (step.settings.state) from_file = atoms_from_file(step, task);
    const auto mark = mark_atoms(step, task);
    task.run([=, &s = step.settings, set = l.set](Here& here) {
        std::vector<Atom> all = from_file ? from_file(here) : atoms_of(s, here.grid(), here.patch);
        here.create(set, static_cast<std::int64_t>(all.size()));
        if (mark) mark(here, all);
        here[count] = static_cast<std::int64_t>(all.size());
        const std::vector<double> shares = s.mass_shares();
        here[of_kinds].resize(static_cast<std::int64_t>(shares.size()));
        double p[3] = {};
        for (std::size_t i = 0; i < all.size(); ++i) {
            here[id][static_cast<std::int64_t>(i)] = all[i].id;
            ++here[of_kinds][all[i].kind];
            if (s.several_kinds()) here[species][static_cast<std::int64_t>(i)] = all[i].kind;
            const double share = shares[static_cast<std::size_t>(all[i].kind)];
            for (int c = 0; c < 3; ++c) {
                here[x].component(c)[i] = all[i].x[static_cast<std::size_t>(c)];
                here[v].component(c)[i] = all[i].v[static_cast<std::size_t>(c)];
                p[c] += share * all[i].v[static_cast<std::size_t>(c)];
            }
        }
        std::array<double, 3>& to = here[sum];
        to = {p[0], p[1], p[2]};
    });
}

/// No momentum, and exactly the temperature that was asked for.
void set_velocities(const Step& step, Scalar<std::array<double, 3>> momentum) {
    const Labels& l = step.labels;
    const auto squares = step.graph.scalar<double>("squares of first velocities", Reduce::sum);
    const bool makes = step.settings.makes_velocities();
    Task rest = step.graph.start().task("take momentum away", step.grid);
    {
        const auto v = rest.modify(l.v);
        const auto of_kinds = rest.need(l.mobile_of_kinds);
        const auto hold = hold_atoms(step, rest);
        const auto p = rest.need(momentum);
        const auto sum = rest.contribute(squares);
        const auto species = rest.need(l.species);
        rest.run([=, &s = step.settings, shares = step.settings.mass_shares()](Here& here) {
            const std::array<double, 3>& all = here[p];
            double mass = 0;
            for (std::size_t k = 0; k < shares.size(); ++k)
                mass += shares[k] * static_cast<double>(here[of_kinds][static_cast<std::int64_t>(k)]);
            double* u[3];
            pointers(here[v], u);
            const std::int64_t count = here[v].size();
            for (std::size_t c = 0; makes && mass > 0 && c < 3; ++c)
                for (std::int64_t i = 0; i < count; ++i) u[c][i] -= all[c] / mass;
            if (hold) hold(here, u);
            here[sum] = s.several_kinds() ? md::squares(count, u, pointer(here[species]), shares.data())
                                          : md::squares(count, u);
        });
    }
    Task scale = step.graph.start().task("set temperature", step.grid);
    const auto v = scale.modify(l.v);
    const auto count = scale.need(l.mobile);
    const auto sum = scale.need(squares);
    scale.run([=, &s = step.settings](Here& here) {
        const double wanted =
            s.units->velocity2_of(s.temperature, s.mass()) * s.degrees_of_freedom(here[count]);
        const double factor = !makes ? 1 : here[sum] > 0 ? std::sqrt(wanted / here[sum]) : 0;
        for (int c = 0; c < 3; ++c)
            for (double& each : here[v].component(c)) each *= factor;
    });
}

/// Each patch finds out who is near, and lists its pairs.
void renew(const Step& step, Scope& scope) {
    const Labels& l = step.labels;
    scope.renew(l.near);
    Task task = scope.task(scope.name() + ": list pairs", step.grid);
    const auto species = task.need(l.species, l.near);
    task.run([=, x = task.need(step.graph.renewed<double>(l.near), l.near), around = task.sizes(l.near),
              made = task.make(l.neighbours), reach = step.settings.reach(),
              open = step.settings.outside.open()](Here& here) {
        const double* at[3];
        pointers(here[x], at);
        here[made].build(
            {{at[0], at[1], at[2]}, pointer(here[species]), here[around].own(), here[around].size(), open},
            reach);
    });
}

/// Lists are made anew where an atom has moved half the skin, or in every so many steps.
void renew_when_due(const Step& step) {
    const Labels& l = step.labels;
    Scope* scope = nullptr;
    if (step.settings.every == 0) {
        const double most = step.settings.skin / 2;
        scope = &step.graph.step().when<std::array<double, 2>>(
            "rebuild", l.moved, [=](const std::array<double, 2>& all) { return all[1] > most * most; });
    } else {
        Task task = step.graph.step().once("whose turn it is");
        task.run([turn = task.make(l.turn), every = step.settings.every](Here& here) {
            here[turn] = here.step % every == 0;
        });
        scope = &step.graph.step().when<std::int32_t>("rebuild", l.turn,
                                                      [](std::int32_t turn) { return turn != 0; });
    }
    scope->relocate(l.set, l.x);  // atoms go to the patches where they are
    renew(step, *scope);
    Task task = scope->once("count rebuilds");
    task.run([count = task.modify(l.rebuilds), way = task.modify(l.way)](Here& here) {
        ++here[count];
        here[way] = 0;
    });
}

/// Pair forces, and where they are due their energy and virial.
void find_forces(const Step& step, Scope& scope) {
    if (step.settings.eam) return find_metal_forces(step, scope);
    if (!step.settings.tables.empty()) return find_table_forces(step, scope);
    const Labels& l = step.labels;
    const bool start = scope.id() == kStart;
    Task task = scope.task(start ? "first forces" : "forces", step.grid);
    const auto x = task.need(l.x, l.near);
    const auto around = task.sizes(l.near);
    const auto list = task.need(l.neighbours);
    const auto way = task.need(l.way);
    const auto force = task.sum(l.force, l.near);
    const auto sums = task.contribute(l.sums);
    const bool boxed = step.settings.changes_volume();
    const auto scale = task.need(l.scale);
    task.run([=, &s = step.settings, potential = step.settings.potential()](Here& here) {
        const double* at[3];
        double* f[3];
        pointers(here[x], at), pointers(here[force], f);
        const Sight sight{
            {at[0], at[1], at[2]}, here[list].species(), here[around].own(), here[around].size()};
        const bool due = s.sums_due(here.step);
        LennardJones small;
        if (boxed) small = shrunk(potential, here[scale]);
        const Sums found =
            here[list].forces(sight, boxed ? small : potential, s.arithmetic(), due, f, here[way], s.margin);
        if (!due) return;
        const double by = boxed ? here[scale] : 1;
        here[sums].resize(kSums);
        here[sums][kPotential] = by * found.energy;
        for (std::size_t c = 0; c < 6; ++c) here[sums][kVirial + c] = by * found.virial[c];
    });
}

/// The second half of this step's kick and the first one of the next step's; between them, what is due is
/// summed up.
void kick(const Step& step, Scope& scope) {
    const Labels& l = step.labels;
    Task task = scope.task(scope.id() == kStart ? "first kick" : "kick", step.grid);
    const auto force = task.need(l.force);
    const auto v = task.modify(l.v);
    const auto sums = task.contribute(l.sums);
    const bool rescales = step.settings.rescales();
    const auto kinetic = rescales ? task.contribute(l.half_kinetic) : ScalarUse<double>();
    const auto species = task.need(l.species);
    task.run([=, &s = step.settings, shares = step.settings.mass_shares()](Here& here) {
        double* u[3];
        const double* f[3];
        pointers(here[v], u), pointers(here[force], f);
        const std::int64_t count = here[v].size();
        // At the start velocities are those of the same time, or of a checkpoint, as far ahead as its case
        // kept them: with the same time step they stay as they are. What is summed up changes no bit of them.
        const double whole = s.step / s.kinetic_unit(), half = whole / 2;
        const bool start = here.step == 0;
        const double ahead = start ? s.ahead() / s.kinetic_unit() : 0;
        const std::int32_t* const kinds = pointer(here[species]);
        if (s.sums_due(here.step)) {
            here[sums].resize(kSums);
            sum_velocities(count, u, f, start ? -ahead : half, kinds, shares.data(), here[sums].begin());
        }
        const double change = start ? half - ahead : whole;
        if (change != 0)
            kinds != nullptr ? md::kick(count, u, f, change, kinds, shares.data())
                             : md::kick(count, u, f, change);
        if (rescales)
            here[kinetic] =
                (kinds != nullptr ? squares(count, u, kinds, shares.data()) : squares(count, u)) / 2;
    });
}

/// Positions, with what a thermostat and a barostat do to velocities in their middle; and whether an atom may
/// have moved half the skin.
void drift(const Step& step) {
    const Labels& l = step.labels;
    const Settings& s = step.settings;
    Task task = step.graph.step().task("drift", step.grid);
    const bool changes = s.drift_changes_velocities(), boxed = s.changes_volume();
    ListUse<double> change;
    ListUse<const double> keep;
    ListUse<const std::int64_t> id;
    ScalarUse<double> gained;
    if (changes)
        change = task.modify(l.v);
    else
        keep = task.need(s.minimises() ? l.ahead : l.v);
    const auto factor = task.need(l.factor);
    ListUse<const std::int32_t> species, groups;
    const bool holds = s.outside.held() != 0;
    if (s.langevin()) {
        id = task.need(l.id), gained = task.contribute(l.gained);
        if (s.several_kinds()) species = task.need(l.species);
        if (holds) groups = task.need(l.outside.groups);
    }
    const auto scale = task.need(l.scale), scale_before = task.need(l.scale.previous());
    const auto x = task.modify(l.x);
    const auto before = task.need(step.graph.renewed<double>(l.near));
    const auto way = task.need(l.way.previous());
    const auto moved = task.contribute(l.moved);
    const auto carry = carry_atoms(step, task);
    const double cutoff = s.farthest_cutoff(), reach = s.reach(), duration = s.minimises() ? 1 : s.step;
    task.run([=, &s = step.settings, shares = s.mass_shares()](Here& here) {
        double *at[3], *w[3] = {};
        const double *u[3], *from[3];
        pointers(here[x], at), pointers(here[before], from);
        const std::int64_t count = here[x].size();
        double longest = 0;
        if (changes) pointers(here[change], w);
        const BoxChange box = boxed ? BoxChange{here[scale_before], here[scale]} : BoxChange{};
        if (s.rescales() && boxed)
            longest =
                drift_rescaled(count, at, w, box.way(s.step, here[factor]), here[factor] * box.slower());
        else if (s.rescales())
            longest = drift_rescaled(count, at, w, s.step / 2 * (1 + here[factor]), here[factor]);
        else if (s.langevin())
            longest = drift_with_noise(s, count, at, w, pointer(here[id]),
                                       s.several_kinds() ? pointer(here[species]) : nullptr, shares.data(),
                                       box, here.step, here[gained], holds ? pointer(here[groups]) : nullptr);
        else if (changes)
            longest = md::drift(count, at, w, s.step);
        else
            pointers(here[keep], u), longest = md::drift(count, at, u, duration);
        if (carry) longest = std::max(longest, carry(here, count, at, w));
        std::array<double, 2>& ways = here[moved];
        ways[0] = longest;
        // In a box that has shrunk the cutoff takes some of the skin.
        const double skin = boxed ? reach - cutoff / box.after : s.skin;
        if (s.every == 0 && 2 * (here[way] + std::sqrt(longest)) > skin)
            ways[1] = farthest(count, at, from) * (boxed ? s.skin * s.skin / (skin * skin) : 1);
    });
}

/// What all velocities are multiplied by in this step, found from those of the step before.
void rescale(const Step& step) {
    const Labels& l = step.labels;
    Task begin = step.graph.start().once("begin chain");
    begin.run([chain = begin.make(l.chain)](Here& here) { here[chain] = {}; });
    Task task = step.graph.step().once("thermostat");
    const bool less = step.settings.remove_drift > 0;
    ScalarUse<const double> taken, taken_before;
    if (less) taken = task.need(l.taken), taken_before = task.need(l.taken.previous());
    task.run([=, all = task.need(l.half_kinetic.previous()), atoms = task.need(l.mobile),
              before = task.need(l.heat.previous()), heat = task.make(l.heat), factor = task.make(l.factor),
              chain = task.modify(l.chain), &s = step.settings](Here& here) {
        const double degrees = s.degrees_of_freedom(here[atoms]);
        const double kinetic = here[all] - (less ? here[taken] - here[taken_before] : 0);
        if (s.thermostat == "v-rescale") {
            here[factor] = rescaling(s, kinetic, degrees, here.step);
            here[heat] = here[before] + (here[factor] * here[factor] - 1) * kinetic;
            return;
        }
        Chain links;
        for (std::size_t k = 0; k < Chain::kLinks; ++k)
            links.place[k] = here[chain][k], links.speed[k] = here[chain][Chain::kLinks + k];
        here[factor] = links.advance(s, kinetic, degrees);
        here[heat] = -links.energy(s, degrees);
        for (std::size_t k = 0; k < Chain::kLinks; ++k)
            here[chain][k] = links.place[k], here[chain][Chain::kLinks + k] = links.speed[k];
    });
}

void add_up_heat(const Step& step) {
    const Labels& l = step.labels;
    Task task = step.graph.step().once("add up heat");
    task.run([before = task.need(l.heat.previous()), gained = task.need(l.gained),
              heat = task.make(l.heat)](Here& here) { here[heat] = here[before] + here[gained]; });
}

Task keep_time(const Step& step) {
    const Labels& l = step.labels;
    Task begin = step.graph.start().once("begin");
    begin.run([way = begin.make(l.way), rebuilds = begin.make(l.rebuilds),
               time = begin.make(l.time)](Here& here) { here[way] = 0, here[rebuilds] = 0, here[time] = 0; });
    if (l.heat.id()) {
        Task cold = step.graph.start().once("begin heat");
        cold.run([heat = cold.make(l.heat)](Here& here) { here[heat] = 0; });
    }
    Task clock = step.graph.step().once("advance clock");
    clock.run([time = clock.make(l.time), dt = step.settings.step](Here& here) {
        here[time] = static_cast<double>(here.step) * dt;
    });
    return step.graph.step().once("bound ways");
}

/// Of the steps since lists were made.
void bound_ways(const Step& step, Task task) {
    const Labels& l = step.labels;
    const bool boxed = step.settings.changes_volume();
    const auto scale = task.need(l.scale), scale_before = task.need(l.scale.previous());
    task.run([=, way = task.make(l.way), before = task.need(l.way.previous()), moved = task.need(l.moved),
              cutoff = step.settings.farthest_cutoff()](Here& here) {
        here[way] = here[before] + std::sqrt(here[moved][0]);
        // Two atoms come into each other's reach as well where the cutoff grows beside the box.
        if (boxed) here[way] += std::abs(cutoff / here[scale] - cutoff / here[scale_before]) / 2;
    });
}

}  // namespace

// The solver in one view.
Labels declare(Graph& graph, const Settings& settings) {
    graph.in_program_order();
    Labels labels;
    const Step step{graph, settings, graph.grid("box", settings.grid()), labels};
    make_labels(step);
    const Task ways = keep_time(step);

    // At the start
    const auto momentum = graph.scalar<std::array<double, 3>>("first momentum", Reduce::sum);
    put_atoms(step, momentum);
    set_velocities(step, momentum);
    std::optional<Task> work;  // of the barostat
    if (settings.changes_volume()) work = scale_box(step);
    renew(step, graph.start());
    find_forces(step, graph.start());
    look_at_first_pairs(step);
    act_from_outside(step, graph.start());
    settings.minimises() ? go_downhill(step, graph.start()) : kick(step, graph.start());
    if (settings.remove_drift > 0) begin_to_remove_drift(step);
    add_up_outside(step, graph.start());
    find_thermo(graph.start(), settings, labels);

    // In each step
    if (settings.remove_drift > 0) remove_drift(step);
    if (settings.rescales()) rescale(step);
    drift(step);
    bound_ways(step, ways);
    if (settings.langevin()) add_up_heat(step);
    renew_when_due(step);
    find_forces(step, graph.step());
    act_from_outside(step, graph.step());
    settings.minimises() ? go_downhill(step, graph.step()) : kick(step, graph.step());
    if (settings.remove_drift > 0) sum_momentum(step, graph.step());
    if (work) add_up_work(step, *work);
    add_up_outside(step, graph.step());
    find_thermo(graph.step(), settings, labels);
    return labels;
}

}  // namespace strata::md
