#include "solvers/md/thermo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "solvers/md/barostat.hpp"

namespace strata::md {

using namespace graph;

Thermo make_thermo(Graph& graph, const Settings& s) {
    const Units& units = *s.units;
    Thermo t;
    const auto one = [&](const char* name, const std::string& unit) {
        return graph.scalar<double>(name, {.unit = unit});
    };
    t.temperature = one("temperature", units.temperature);
    t.potential = one("potential energy", units.energy);
    t.kinetic = one("kinetic energy", units.energy);
    t.total = one("total energy", units.energy);
    t.pressure = one("pressure", units.pressure);
    constexpr const char* names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    for (std::size_t c = 0; c < 6; ++c)
        t.tensor[c] = one((std::string("pressure ") + names[c]).c_str(), units.pressure);
    t.momentum = one("momentum", units.mass + " " + units.velocity);
    t.conserved = one("conserved energy", units.energy);
    t.first = one("first conserved energy", units.energy);
    if (s.changes_volume()) {
        t.volume = one("volume", units.length + "3");
        t.density = one("density", units.density);
    }
    if (s.minimises()) t.largest_force = one("largest force", units.force);
    return t;
}

void sum_velocities(std::int64_t count, const double* const v[3], const double* const f[3], double half,
                    const std::int32_t* species, const double* shares, double* sums) {
    double all[kSums] = {};
    for (std::int64_t i = 0; i < count; ++i) {
        const double m = species == nullptr ? 1 : shares[species[i]], by = half / m;
        const double a = v[0][i] + by * f[0][i], b = v[1][i] + by * f[1][i], c = v[2][i] + by * f[2][i];
        const double terms[] = {a * a, b * b, c * c, a * b, a * c, b * c};
        for (std::size_t t = 0; t < 6; ++t) all[kKinetic + t] += m * terms[t] / 2;
        all[kMomentum] += m * a, all[kMomentum + 1] += m * b, all[kMomentum + 2] += m * c;
    }
    for (std::size_t t = kKinetic; t < kSums; ++t) sums[t] = all[t];
}

LongRange beyond_cutoff(const Settings& s, std::span<const std::int64_t> atoms) {
    return s.long_range ? long_range(s.potential(), atoms) : LongRange{};
}

namespace {

/// Ends the run where energies are what motion cannot make them. `work`: of forces from outside, so far. Two
/// atoms at one place, at the start, are first_pairs.cpp's.
void expect_sound(const Here& here, const Settings& s, double total, double conserved, double first,
                  double work, std::int64_t atoms) {
    if (here.step == 0) return;
    const auto what_to_do = [&s] {
        return fmt::format(
            "time.step ({:g} {}) is too long for these forces and speeds, or atoms began too near to each "
            "other: try a tenth of it, or begin with time.method = \"fire\"",
            s.step, s.units->time);
    };
    if (!std::isfinite(total)) here.fail("the energy is no number any more: " + what_to_do());
    if (s.minimises()) return;
    double well = 0;
    for (const Species& kind : s.kinds) well = std::max(well, kind.epsilon);
    const double warm = s.units->boltzmann * std::max({s.temperature, s.thermostat_temperature, 0.0});
    // Atoms that began at rest and far from each other have no energy but that of the work: what rounding
    // leaves of it is not to be compared with 0.
    const double usual =
        std::abs(first) + std::abs(work) + static_cast<double>(atoms) * (warm + (s.form == "lj" ? well : 0));
    if (conserved - first > kMostGrowth * usual)
        here.fail(fmt::format(
            "energy grows without a source: the conserved energy was {:.6g} {} at first and is {:.6g} now "
            "(allowed: {:g} times {:.4g} more, the energy of the first state and of forces from outside): {}",
            first, s.units->energy, conserved, kMostGrowth, usual, what_to_do()));
}

}  // namespace

void find_thermo(Scope& scope, const Settings& settings, const Labels& l) {
    const bool start = scope.id() == kStart;
    Task task = scope.once(start ? "first thermo" : "thermo");
    const auto change = [&](Scalar<double> scalar) {
        return start ? task.make(scalar) : task.modify(scalar);
    };
    const Thermo& t = l.thermo;
    const auto temperature = change(t.temperature), potential = change(t.potential),
               kinetic = change(t.kinetic), total = change(t.total), pressure = change(t.pressure),
               momentum = change(t.momentum), conserved = change(t.conserved), first = change(t.first);
    std::array<ScalarUse<double>, 6> tensor;
    for (std::size_t c = 0; c < 6; ++c) tensor[c] = change(t.tensor[c]);
    const auto sums = task.need(l.sums);
    const auto count = task.need(l.mobile);
    const auto of_kinds = task.need(l.of_kinds);
    const bool heated = settings.thermostat != "none";
    const auto heat = task.need(l.heat);
    const bool less = settings.remove_drift > 0, boxed = settings.changes_volume(),
               pushed = settings.outside.works();
    const auto taken = task.need(l.taken);
    const auto work_outside = task.need(l.outside.work);
    const auto scale = task.need(l.scale), work = task.need(l.work);
    const auto volume = change(t.volume), density = change(t.density);
    task.run([=, &s = settings](Here& here) {
        if (!s.due(here.step)) return;
        const auto of = [&](std::size_t i) { return here[sums][static_cast<std::int64_t>(i)]; };
        const LongRange beyond = beyond_cutoff(s, {here[of_kinds].begin(), s.kinds.size()});
        here[kinetic] = s.kinetic_unit() * (of(kKinetic) + of(kKinetic + 1) + of(kKinetic + 2));
        const double size = boxed ? here[scale] * here[scale] * here[scale] * s.volume() : s.volume();
        here[potential] = of(kPotential) + beyond.energy / size;
        here[total] = here[kinetic] + here[potential];
        const double degrees = s.degrees_of_freedom(here[count]);
        here[temperature] = s.units->temperature_of(here[kinetic], degrees);
        for (std::size_t c = 0; c < 6; ++c)
            here[tensor[c]] = s.units->energy_density / size *
                              (2 * s.kinetic_unit() * of(kKinetic + c) + of(kVirial + c) +
                               (c < 3 ? beyond.virial / (3 * size) : 0));
        here[pressure] = (here[tensor[0]] + here[tensor[1]] + here[tensor[2]]) / 3;
        here[momentum] = s.mass() * std::hypot(of(kMomentum), of(kMomentum + 1), of(kMomentum + 2));
        here[conserved] = here[total] - (heated ? s.kinetic_unit() * here[heat] : 0);
        if (less) here[conserved] += s.kinetic_unit() * here[taken];
        if (pushed) here[conserved] -= here[work_outside];
        if (boxed) {
            here[conserved] += Barostat(s, beyond).energy(here[scale]) + here[work];
            here[volume] = size;
            double mass = 0;
            for (std::size_t k = 0; k < s.kinds.size(); ++k)
                mass += s.kinds[k].mass * static_cast<double>(here[of_kinds][static_cast<std::int64_t>(k)]);
            here[density] = s.units->mass_density * mass / size;
        }
        if (here.step == 0) here[first] = here[conserved];
        expect_sound(here, s, here[total], here[conserved], here[first], pushed ? here[work_outside] : 0,
                     here[count]);
    });
}

}  // namespace strata::md
