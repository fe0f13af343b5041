#include "solvers/md/verify.hpp"

#include <algorithm>
#include <cmath>

namespace strata::md {

namespace {

graph::Findings verify_minimum(const graph::Finished& run, const Labels& l, const Settings& s) {
    const auto atoms = static_cast<double>(run.value(l.atoms));
    return {{"largest force on an atom, in " + s.units->force, run.value(l.thermo.largest_force),
             s.least_force, "minimise.force of the case"},
            {{"atoms", atoms, "1", false},
             {"potential energy of an atom", run.value(l.thermo.potential) / atoms, s.units->energy, false},
             {"steps until the minimum", static_cast<double>(run.simulation().step()), "1", false}}};
}

}  // namespace

graph::Findings verify(const graph::Finished& run, const Labels& l, const Settings& s) {
    if (s.minimises()) return verify_minimum(run, l, s);
    const std::int64_t atoms = run.value(l.atoms);
    const auto each = [&](graph::Scalar<double> scalar) {
        return run.value(scalar) / static_cast<double>(atoms);
    };
    std::vector<Figure> figures{
        {"atoms", static_cast<double>(atoms), "1", false},
        {"degrees of freedom", s.degrees_of_freedom(run.value(l.mobile)), "1", false},
        {"temperature", run.value(l.thermo.temperature), s.units->temperature, false},
        {"potential energy of an atom", each(l.thermo.potential), s.units->energy, false},
        {"momentum of an atom", each(l.thermo.momentum), s.units->mass + " " + s.units->velocity, false},
        {"times that lists were made anew", static_cast<double>(run.value(l.rebuilds)), "1", false}};
    if (l.thermo.has_pressure)
        figures.insert(figures.begin() + 3,
                       {"pressure", run.value(l.thermo.pressure), s.units->pressure, false});
    if (s.changes_volume())
        figures.push_back({"volume", run.value(l.thermo.volume), s.units->length + "3", false});
    const double drift = std::abs(each(l.thermo.conserved) - each(l.thermo.first));
    const bool given = s.drift_limit > 0;
    std::string source =
        given ? "verify.drift of the case" : "energy is conserved: 1 % of the kinetic energy";
    double limit = given ? s.drift_limit : 0.01 * each(l.thermo.kinetic);
    if (!given && s.changes_volume()) {
        // The box forgets what it was, so what counts is the drift in some of its times.
        limit *= std::max(1.0, run.value(l.time) / (100 * s.barostat_time));
        source += " in 100 of the barostat's times";
    }
    graph::Findings found(
        {"change of the conserved energy of an atom, in " + s.units->energy, drift, limit, source}, figures);
    if (!given) found.unasked = "the case gives no limit (verify.drift)";
    return found;
}

}  // namespace strata::md
