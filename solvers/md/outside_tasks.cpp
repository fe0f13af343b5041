// What acts on atoms from outside, on the graph. Nothing of this is declared where a case does not ask for
// it.
//
//   put atoms      at the start: the groups of each atom, and its first place for springs
//   drift          moves atoms of moving groups, and turns others round at reflecting walls
//   outside        adds to forces; takes those of frozen and moving atoms away, whose velocity is kept as 0
//   add up outside forces on walls since the last row of the series, work, the columns of the series
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/base/error.hpp"
#include "solvers/md/move.hpp"
#include "solvers/md/step.hpp"

namespace strata::md {

using namespace graph;

namespace {

constexpr std::size_t kFaces = Wall::kFaces.size();
constexpr std::int64_t kOfGroup = 4;  // kinetic energy, force
constexpr std::size_t kPowerBefore = kFaces, kSteps = kFaces + 1;

/// What loops over a patch's atoms need besides their positions.
struct Marks {
    ListUse<const std::int32_t> groups, species;

    [[nodiscard]] const std::int32_t* groups_of(const Here& here) const { return pointer(here[groups]); }
    [[nodiscard]] const std::int32_t* species_of(const Here& here) const { return pointer(here[species]); }
};

Marks marks_of(const Step& step, Task& task) {
    return {task.need(step.labels.outside.groups), task.need(step.labels.species)};
}

/// each(i, bits of its groups) for the atoms of a group that forces move.
template <class Each>
void of_group(std::int64_t count, const std::int32_t* bits, std::int32_t group, std::int32_t held,
              Each each) {
    for (std::int64_t i = 0; i < count; ++i)
        if (bits == nullptr || (in_group(bits[i], group) && (bits[i] & held) == 0)) each(i);
}

/// Forces on a patch's atoms, and what belongs to them.
class Acting {
  public:
    struct Atoms {
        std::int64_t count = 0;
        const double* x[3] = {};
        const double* first[3] = {};  // places at the start; none without springs
        const std::int32_t* groups = nullptr;
        const std::int32_t* species = nullptr;
        double* f[3] = {};
    };
    Acting(const Settings& s, const Atoms& atoms)
        : s_(s), atoms_(atoms), held_(s.outside.held()), shares_(s.mass_shares()) {}

    void go() {
        const Outside& all = s_.outside;
        for (const Push& push : all.forces) constant(push, [](std::int64_t) { return 1.0; });
        for (const Push& push : all.accelerations)
            constant(push, [this](std::int64_t i) { return s_.kinetic_unit() * share(i); });
        for (const Spring& spring : all.springs) pull_back(spring);
        for (const Wall& wall : all.walls)
            if (!wall.reflects()) push_off(wall);
    }
    /// Powers of forces without a potential, with velocities w.
    template <class Velocity>
    double power(Velocity w) {
        double sum = 0;
        const auto along = [&](const Push& push, auto times) {
            for (std::size_t a = 0; a < 3; ++a) {
                if (!s_.outside.periodic(a) || push.vector[a] == 0) continue;
                each(push.group, [&](std::int64_t i) { sum += times(i) * push.vector[a] * w(a, i); });
            }
        };
        for (const Push& push : s_.outside.forces) along(push, [](std::int64_t) { return 1.0; });
        for (const Push& push : s_.outside.accelerations)
            along(push, [this](std::int64_t i) { return s_.kinetic_unit() * share(i); });
        return sum;
    }
    /// That power, without what forces on atoms that move at a given velocity would do. These forces are
    /// zero afterwards.
    [[nodiscard]] double moved_power(double power) {
        std::int32_t before = 0;
        for (const Push& push : s_.outside.moving) {
            for (std::int64_t i = 0; i < atoms_.count; ++i) {
                if ((atoms_.groups[i] & push.group) == 0 || (atoms_.groups[i] & before) != 0) continue;
                for (std::size_t a = 0; a < 3; ++a)
                    power -= push.vector[a] * atoms_.f[a][i], atoms_.f[a][i] = 0;
            }
            before |= push.group;
        }
        return power;
    }
    /// Of each group that is watched, in energy: that of its atoms' velocities w(a, i), but for those that
    /// are held; and the force on it.
    template <class Numbers, class Velocity>
    void add_watched(Numbers of_groups, Velocity w) const {
        of_groups.resize(kOfGroup * static_cast<std::int64_t>(s_.outside.watched.size()));
        for (std::size_t g = 0; g < s_.outside.watched.size(); ++g) {
            const std::int64_t at = kOfGroup * static_cast<std::int64_t>(g);
            for (std::int64_t i = 0; i < atoms_.count; ++i) {
                if ((atoms_.groups[i] & s_.outside.watched[g]) == 0) continue;
                const bool moves = (atoms_.groups[i] & held_) == 0;
                for (std::size_t a = 0; a < 3; ++a) {
                    if (moves) of_groups[at] += share(i) * w(a, i) * w(a, i) / 2;
                    of_groups[at + 1 + static_cast<std::int64_t>(a)] += atoms_.f[a][i];
                }
            }
        }
    }
    [[nodiscard]] double share(std::int64_t i) const {
        return atoms_.species == nullptr ? 1 : shares_[static_cast<std::size_t>(atoms_.species[i])];
    }
    double energy = 0;
    std::array<double, kFaces> on_walls{};

  private:
    template <class Each>
    void each(std::int32_t group, Each call) const {
        of_group(atoms_.count, atoms_.groups, group, held_, call);
    }
    /// Where the direction is not periodic it has a potential.
    template <class Times>
    void constant(const Push& push, Times times) {
        for (std::size_t a = 0; a < 3; ++a) {
            if (push.vector[a] == 0) continue;
            const bool potential = !s_.outside.periodic(a);
            each(push.group, [&](std::int64_t i) {
                const double force = times(i) * push.vector[a];
                atoms_.f[a][i] += force;
                if (potential) energy -= force * atoms_.x[a][i];
            });
        }
    }
    void pull_back(const Spring& spring) {
        for (std::size_t a = 0; a < 3; ++a) {
            const double length = s_.length[a];
            const bool periodic = s_.outside.periodic(a);
            each(spring.group, [&](std::int64_t i) {
                double d = atoms_.x[a][i] - atoms_.first[a][i];
                if (periodic) d -= length * std::nearbyint(d / length);
                atoms_.f[a][i] -= spring.stiffness * d;
                energy += spring.stiffness * d * d / 2;
            });
        }
    }
    void push_off(const Wall& wall) {
        const std::size_t a = wall.axis();
        const double at = s_.low[a] + (wall.high() ? s_.length[a] : 0), sign = wall.high() ? -1 : 1;
        each(wall.group, [&](std::int64_t i) {
            const double r = sign * (atoms_.x[a][i] - at);
            if (r >= wall.cutoff()) return;
            if (wall.is_hard() && !(r > 0))
                throw Error(fmt::format("an atom is at the wall {} or beyond it", Wall::kFaces[wall.face()]),
                            kFailure)
                    .given(fmt::format("({}, {}, {})", atoms_.x[0][i], atoms_.x[1][i], atoms_.x[2][i]))
                    .allowed(fmt::format("{} {} {}", "xyz"[a], wall.high() ? "below" : "above", at))
                    .remedy("first positions away from the wall, or a shorter time step (time.step)");
            const Wall::Value value = wall.at(r);
            energy += value.energy;
            atoms_.f[a][i] += sign * value.force;
            on_walls[wall.face()] += value.force;
        });
    }

    const Settings& s_;
    Atoms atoms_;
    std::int32_t held_;
    std::vector<double> shares_;
};

}  // namespace

void make_outside_labels(const Step& step) {
    const Outside& all = step.settings.outside;
    Labels& l = step.labels;
    OutsideLabels& o = l.outside;
    Graph& graph = step.graph;
    const Units& units = *step.settings.units;
    l.thermo.has_pressure = !all.open();
    const int groups = static_cast<int>(all.groups.names().size());
    if (all.has_groups()) {
        o.groups = graph.particle<std::int32_t>(l.set, "groups", {.about = "a bit for each group"});
        o.members = graph.scalars<std::int64_t>("atoms of groups, and of their lines", Reduce::sum,
                                                groups + static_cast<int>(all.groups.lines()));
    }
    if (all.held() != 0) {
        l.mobile = graph.scalar<std::int64_t>("atoms that forces move", Reduce::sum);
        l.mobile_of_kinds = graph.scalars<std::int64_t>("atoms of kinds that forces move", Reduce::sum,
                                                        static_cast<int>(step.settings.kinds.size()));
    }
    if (!all.springs.empty())
        o.first_place = graph.particle<double>(l.set, "first place", {.components = 3, .unit = units.length});
    if (!all.acts()) return;
    o.now = graph.scalars<double>("outside in a step", Reduce::sum, OutsideLabels::kNow);
    o.since = graph.scalar<std::array<double, kFaces + 2>>("outside since the last row");
    if (all.works()) o.work = graph.scalar<double>("work from outside", {.unit = units.energy});
    const auto column = [&](const std::string& name, const std::string& unit) {
        l.thermo.more.push_back(graph.scalar<double>(name, {.unit = unit}));
    };
    column("energy outside", units.energy);
    for (const std::size_t face : all.faces_with_walls())
        column(fmt::format("force on {}", Wall::kFaces[face]), units.force);
    if (all.watched.empty()) return;
    o.of_groups =
        graph.scalars<double>("of groups", Reduce::sum, static_cast<int>(kOfGroup * all.series.size()));
    for (const std::string& name : all.series) {
        column("temperature of " + name, units.temperature);
        column("kinetic energy of " + name, units.energy);
        for (const char axis : {'x', 'y', 'z'})
            column(fmt::format("force {} on {}", axis, name), units.force);
    }
}

std::function<void(Here&, std::vector<Atom>&)> mark_atoms(const Step& step, Task& put) {
    const Outside& all = step.settings.outside;
    const Labels& l = step.labels;
    const bool has_groups = all.has_groups(), has_springs = !all.springs.empty();
    if (!has_groups && !has_springs) return {};
    const std::int32_t held = all.held();
    ScalarsUse<std::int64_t> of_kinds;
    ScalarUse<std::int64_t> mobile;
    const auto groups = put.make(l.outside.groups);
    const auto members = put.contribute(l.outside.members);
    if (held != 0) mobile = put.contribute(l.mobile), of_kinds = put.contribute(l.mobile_of_kinds);
    const auto first = put.make(l.outside.first_place);
    return [=, &all, kinds = step.settings.kinds.size()](Here& here, std::vector<Atom>& atoms) {
        const std::size_t names = all.groups.names().size();
        std::vector<std::int64_t> of_lines(all.groups.lines());
        if (has_groups) here[members].resize(static_cast<std::int64_t>(names + of_lines.size()));
        if (held != 0) here[of_kinds].resize(static_cast<std::int64_t>(kinds));
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            Atom& atom = atoms[i];
            for (std::size_t c = 0; has_springs && c < 3; ++c)
                here[first].component(static_cast<int>(c))[i] = atom.x[c];
            if (!has_groups) continue;
            const std::int32_t bits = all.groups.of(atom.id, atom.kind, atom.x, of_lines.data());
            here[groups][static_cast<std::int64_t>(i)] = bits;
            const bool moves = (bits & held) == 0;
            for (std::size_t g = 0; g < names; ++g)
                if ((bits >> g & 1) != 0 && moves) ++here[members][static_cast<std::int64_t>(g)];
            if (!moves) atom.v = {};
            if (held != 0 && moves) ++here[mobile], ++here[of_kinds][atom.kind];
        }
        for (std::size_t k = 0; k < of_lines.size(); ++k)
            here[members][static_cast<std::int64_t>(names + k)] += of_lines[k];
    };
}

std::function<void(Here&, double* const values[3])> hold_atoms(const Step& step, Task& task) {
    const std::int32_t held = step.settings.outside.held();
    if (held == 0) return {};
    return [held, groups = task.need(step.labels.outside.groups)](Here& here, double* const values[3]) {
        for (std::int64_t i = 0; i < here[groups].size(); ++i)
            for (std::size_t c = 0; (here[groups][i] & held) != 0 && c < 3; ++c) values[c][i] = 0;
    };
}

std::function<double(Here&, std::int64_t, double* const[3], double* const[3])> carry_atoms(const Step& step,
                                                                                           Task& drift) {
    const Outside& all = step.settings.outside;
    if (all.moving.empty() && !all.reflects()) return {};
    const Marks marks = marks_of(step, drift);
    ScalarsUse<double> now;
    if (all.reflects()) now = drift.contribute(step.labels.outside.now);
    return [=, &all, &s = step.settings, shares = step.settings.mass_shares()](
               Here& here, std::int64_t count, double* const x[3], double* const v[3]) {
        const std::int32_t *groups = marks.groups_of(here), *species = marks.species_of(here);
        double longest = 0;
        std::int32_t before = 0;  // an atom of several groups moves with the first of these
        for (const Push& push : all.moving) {
            double square = 0;
            for (std::size_t a = 0; a < 3; ++a) square += push.vector[a] * push.vector[a];
            for (std::int64_t i = 0; square > 0 && i < count; ++i) {
                if ((groups[i] & push.group) == 0 || (groups[i] & before) != 0) continue;
                for (std::size_t a = 0; a < 3; ++a) x[a][i] += s.step * push.vector[a];
                longest = std::max(longest, s.step * s.step * square);
            }
            before |= push.group;
        }
        if (!all.reflects()) return longest;
        here[now].resize(OutsideLabels::kNow);
        for (const Wall& wall : all.walls) {
            if (!wall.reflects()) continue;
            const std::size_t a = wall.axis();
            const double at = s.low[a] + (wall.high() ? s.length[a] : 0), sign = wall.high() ? -1 : 1;
            of_group(count, groups, wall.group, all.held(), [&](std::int64_t i) {
                if (!(sign * (x[a][i] - at) < 0)) return;
                x[a][i] = 2 * at - x[a][i];
                const double share = species == nullptr ? 1 : shares[static_cast<std::size_t>(species[i])];
                here[now][static_cast<std::int64_t>(wall.face())] -=
                    2 * s.kinetic_unit() * share * sign * v[a][i] / s.step;
                v[a][i] = -v[a][i];
            });
        }
        return longest;
    };
}

void act_from_outside(const Step& step, Scope& scope) {
    const Settings& s = step.settings;
    if (!s.outside.acts()) return;
    const Labels& l = step.labels;
    const bool start = scope.id() == kStart, springs = !s.outside.springs.empty(),
               watches = !s.outside.watched.empty(), works = s.outside.works();
    Task task = scope.task(start ? "first outside" : "outside", step.grid);
    const auto force = task.modify(l.force);
    const auto x = task.need(l.x);
    const Marks marks = marks_of(step, task);
    const auto sums = task.contribute(l.sums);
    const auto now = task.contribute(l.outside.now);
    const auto first = task.need(l.outside.first_place);
    ListUse<const double> v;
    if (watches || works) v = task.need(l.v);
    const auto of_groups = task.contribute(l.outside.of_groups);
    task.run([=, &s = step.settings](Here& here) {
        Acting::Atoms atoms;
        pointers(here[x], atoms.x), pointers(here[force], atoms.f);
        if (springs) pointers(here[first], atoms.first);
        atoms.count = here[x].size();
        atoms.groups = marks.groups_of(here), atoms.species = marks.species_of(here);
        Acting acting(s, atoms);
        acting.go();
        const bool due = s.due(here.step);
        here[now].resize(OutsideLabels::kNow);
        for (std::size_t face = 0; face < kFaces; ++face)
            here[now][static_cast<std::int64_t>(face)] = acting.on_walls[face];
        if (due) {
            here[now][OutsideLabels::kEnergy] = acting.energy;
            here[sums].resize(kSums);
            here[sums][kPotential] = acting.energy;
        }
        const double* u[3] = {};
        if (watches || works) pointers(here[v], u);
        // Velocities of the time of the positions; at the start they are.
        const double half = start ? 0 : s.step / (2 * s.kinetic_unit());
        const auto w = [&](std::size_t a, std::int64_t i) {
            return u[a][i] + half / acting.share(i) * atoms.f[a][i];
        };
        if (watches && due) acting.add_watched(here[of_groups], w);
        here[now][OutsideLabels::kPower] = acting.moved_power(works ? acting.power(w) : 0);
    });
}

void add_up_outside(const Step& step, Scope& scope) {
    const Settings& s = step.settings;
    const Labels& l = step.labels;
    const OutsideLabels& o = l.outside;
    const bool start = scope.id() == kStart;
    if (start && s.outside.has_groups()) {
        Task check = scope.once("check groups");
        const auto checked = step.graph.scalar<std::int32_t>("groups have atoms");
        check.run([members = check.need(o.members), made = check.make(checked), &s](Here& here) {
            const std::size_t names = s.outside.groups.names().size();
            for (std::size_t k = 0; k < s.outside.groups.lines(); ++k)
                if (here[members][static_cast<std::int64_t>(names + k)] == 0)
                    throw s.outside.without_atoms[k];
            here[made] = 1;
        });
    }
    if (!s.outside.acts()) return;
    Task task = scope.once(start ? "first sums outside" : "add up outside");
    const auto now = task.need(o.now);
    const auto since = start ? task.make(o.since) : task.modify(o.since);
    const bool works = s.outside.works(), watches = !s.outside.watched.empty();
    const auto work = start ? task.make(o.work) : task.modify(o.work);
    const auto of_groups = task.need(o.of_groups);
    ScalarsUse<const std::int64_t> members;
    if (watches) members = task.need(o.members);
    std::vector<ScalarUse<double>> columns;
    for (const Scalar<double> column : l.thermo.more)
        columns.push_back(start ? task.make(column) : task.modify(column));
    task.run([=, &s = step.settings](Here& here) {
        auto& sums = here[since];
        if (start) sums = {};
        if (start && works) here[work] = 0;
        for (std::size_t face = 0; face < kFaces; ++face)
            sums[face] += here[now][static_cast<std::int64_t>(face)];
        const double power = here[now][OutsideLabels::kPower];
        if (works && !start) here[work] += s.step * (sums[kPowerBefore] + power) / 2;
        sums[kPowerBefore] = power;
        sums[kSteps] += 1;
        if (!s.due(here.step)) return;
        std::size_t at = 0;
        here[columns[at++]] = here[now][OutsideLabels::kEnergy];
        for (const std::size_t face : s.outside.faces_with_walls())
            here[columns[at++]] = sums[face] / sums[kSteps];
        for (std::size_t face = 0; face < kFaces; ++face) sums[face] = 0;
        sums[kSteps] = 0;
        for (std::size_t g = 0; g < s.outside.watched.size(); ++g) {
            const std::int64_t first = kOfGroup * static_cast<std::int64_t>(g);
            const double kinetic = s.kinetic_unit() * here[of_groups][first];
            const auto number = std::countr_zero(static_cast<std::uint32_t>(s.outside.watched[g]));
            here[columns[at++]] =
                s.units->temperature_of(kinetic, 3 * static_cast<double>(here[members][number]));
            here[columns[at++]] = kinetic;
            for (std::int64_t a = 0; a < 3; ++a) here[columns[at++]] = here[of_groups][first + 1 + a];
        }
    });
}

}  // namespace strata::md
