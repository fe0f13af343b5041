#include "solvers/md/thermo.hpp"

#include <cmath>
#include <numbers>

namespace strata::md {

using namespace graph;

Thermo make_thermo(Graph& graph) {
    Thermo t;
    const auto one = [&](const char* name, const char* unit) {
        return graph.scalar<double>(name, {.unit = unit});
    };
    t.temperature = one("temperature", "epsilon/k");
    t.potential = one("potential energy", "epsilon");
    t.kinetic = one("kinetic energy", "epsilon");
    t.total = one("total energy", "epsilon");
    t.pressure = one("pressure", "epsilon/sigma3");
    constexpr const char* names[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    for (std::size_t c = 0; c < 6; ++c)
        t.tensor[c] = one((std::string("pressure ") + names[c]).c_str(), "epsilon/sigma3");
    t.momentum = one("momentum", "m sigma/tau");
    t.conserved = one("conserved energy", "epsilon");
    t.first = one("first conserved energy", "epsilon");
    return t;
}

void sum_velocities(std::int64_t count, const double* const v[3], double* sums) {
    double all[kSums] = {};
    for (std::int64_t i = 0; i < count; ++i) {
        const double a = v[0][i], b = v[1][i], c = v[2][i];
        const double terms[] = {a * a, b * b, c * c, a * b, a * c, b * c};
        for (std::size_t t = 0; t < 6; ++t) all[kKinetic + t] += terms[t] / 2;
        all[kMomentum] += a, all[kMomentum + 1] += b, all[kMomentum + 2] += c;
    }
    for (std::size_t t = kKinetic; t < kSums; ++t) sums[t] = all[t];
}

namespace {

/// What pairs beyond the cutoff add where the fluid is even there: M. P. Allen, D. J. Tildesley, Computer
/// Simulation of Liquids (2nd ed., 2017), equations 2.144 and 2.146.
struct LongRange {
    double energy = 0, pressure = 0;
};
LongRange long_range(const Settings& s, double atoms) {
    if (!s.long_range) return {};
    const double third = std::pow(s.sigma / s.cutoff, 3), ninth = third * third * third;
    const double factor =
        std::numbers::pi / 9 * s.epsilon * std::pow(s.sigma, 3) * atoms * atoms / s.volume();
    return {8 * factor * (ninth - 3 * third), 16 * factor * (2 * ninth - 3 * third) / s.volume()};
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
    const auto sums = task.need(l.sums.at(0));
    const auto count = task.need(l.atoms);
    const bool heated = settings.thermostat != "none";
    const auto heat = heated ? task.need(l.heat.at(0)) : ScalarUse<const double>();
    task.run([=, &s = settings](Here& here) {
        if (!s.due(here.step)) return;
        const auto of = [&](std::size_t i) { return here[sums][static_cast<std::int64_t>(i)]; };
        const LongRange beyond = long_range(s, static_cast<double>(here[count]));
        here[kinetic] = of(kKinetic) + of(kKinetic + 1) + of(kKinetic + 2);
        here[potential] = of(kPotential) + beyond.energy;
        here[total] = here[kinetic] + here[potential];
        const double degrees = s.degrees_of_freedom(here[count]);
        here[temperature] = degrees > 0 ? 2 * here[kinetic] / degrees : 0;
        for (std::size_t c = 0; c < 6; ++c)
            here[tensor[c]] =
                (2 * of(kKinetic + c) + of(kVirial + c)) / s.volume() + (c < 3 ? beyond.pressure : 0);
        here[pressure] = (here[tensor[0]] + here[tensor[1]] + here[tensor[2]]) / 3;
        here[momentum] = std::hypot(of(kMomentum), of(kMomentum + 1), of(kMomentum + 2));
        here[conserved] = here[total] - (heated ? here[heat] : 0);
        if (here.step == 0) here[first] = here[conserved];
        if (!std::isfinite(here[total]))
            here.fail("the energy is no number any more: the time step is too long (time.step)");
    });
}

}  // namespace strata::md
