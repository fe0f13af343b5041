#include "solvers/mpm/verify.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "solvers/mpm/exact.hpp"

namespace strata::mpm {

namespace {

constexpr double kEnergyLimit = 0.05;

}  // namespace

double error(const graph::Finished& run, const Labels& l, const Settings& s) {
    return std::sqrt(run.value(l.error) / run.value(l.total_mass)) / exact_displacement(s);
}

double energy_change(const graph::Finished& run, const Labels& l, const Settings& s) {
    const double plastic = s.plastic() ? run.value(l.plastic_work) : 0;
    const double rubbed = s.rubs() ? run.value(l.rubbed) : 0;
    const double now = run.value(l.kinetic) + run.value(l.strain) + plastic + rubbed,
                 work = run.value(l.work);
    const double first = run.value(l.first_energy), won = now - work - first;
    return won == 0 ? 0 : won / std::max(std::abs(first), std::abs(work));  // what rests has no energy
}

graph::Findings verify(const graph::Finished& run, const Labels& l, const Settings& s) {
    std::vector<Figure> figures;
    if (s.exact()) figures.push_back({"error", error(run, l, s), "1", false});
    if (!s.manufactured())
        figures.push_back({"energy lost or won", std::abs(energy_change(run, l, s)), "1", false});
    figures.push_back({"kinetic energy", run.value(l.kinetic), "J", false});
    figures.push_back({"strain energy", run.value(l.strain), "J", false});
    if (s.plastic()) figures.push_back({"plastic work", run.value(l.plastic_work), "J", false});
    if (s.rubs()) figures.push_back({"work of friction between bodies", run.value(l.rubbed), "J", false});
    figures.push_back({"work of loads", run.value(l.work), "J", false});
    std::vector<Verification> criteria;
    if (s.error_limit > 0)
        criteria.push_back({"root-mean-square error against the exact solution, as a share of its amplitude",
                            error(run, l, s), s.error_limit, "verify.error of the case"});
    if (s.energy_limit > 0 || s.error_limit == 0)
        criteria.push_back({"energy lost or won, as a share of what there was",
                            std::abs(energy_change(run, l, s)),
                            s.energy_limit > 0 ? s.energy_limit : kEnergyLimit,
                            s.energy_limit > 0 ? "verify.energy of the case" : "verify.energy, not given"});
    graph::Findings found = graph::Findings::of(std::move(criteria), std::move(figures));
    if (s.error_limit == 0 && s.energy_limit == 0)
        found.unasked = "the case gives no limit (verify.error, verify.energy)";
    return found;
}

}  // namespace strata::mpm
