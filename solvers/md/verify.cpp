#include "solvers/md/verify.hpp"

#include <cmath>

namespace strata::md {

graph::Findings verify(const graph::Finished& run, const Labels& l, const Settings& s) {
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
    const double drift = std::abs(each(l.thermo.conserved) - each(l.thermo.first));
    const bool given = s.drift_limit > 0;
    return {{"change of the conserved energy of an atom, in " + s.units->energy, drift,
             given ? s.drift_limit : 0.01 * each(l.thermo.kinetic),
             given ? "verify.drift of the case" : "energy is conserved: 1 % of the kinetic energy"},
            figures};
}

}  // namespace strata::md
