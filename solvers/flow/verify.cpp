#include "solvers/flow/verify.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "solvers/flow/overset_balance.hpp"

namespace strata::flow {

namespace {

/// A figure and the range in which it has to be.
struct Check {
    std::string what, unit, key;
    double value, least, most;
    /// How far it is from the middle of the range.
    [[nodiscard]] Verification criterion() const {
        const double middle = (least + most) / 2;
        const std::string source = key + " of the case";
        if (least == -most) return {what, std::abs(value), most, source};
        return {fmt::format("distance of the {} from {:g}", what, middle), std::abs(value - middle),
                (most - least) / 2, source};
    }
};

/// What a run found, and what its case asks for.
struct Judged {
    std::vector<Figure> figures;
    std::vector<Check> checks;

    void figure(const char* name, double value) { figures.push_back({name, value, "1", false}); }
    void within(const char* what, const char* key, double value, const std::vector<double>& range) {
        if (!range.empty()) checks.push_back({what, "1", key, value, range[0], range[1]});
    }
    void below(const char* what, const char* key, double value, double limit) {
        if (limit > 0) checks.push_back({what, "1", key, value, -limit, limit});
    }
};

/// Of meshes that overlap.
void add_overlap(const graph::Finished& run, const Labels& l, Judged& to) {
    if (l.overset == nullptr) return;
    if (l.overset->unknown) to.figure("orphans out of holes", run.value(l.overset->unknown->so_far));
    if (l.overset->flows)
        if (const auto lost = lost_share(run.simulation().numbers(*l.overset->flows)))
            to.figure("mass not conserved by the overlap", *lost);
}

/// Coefficients of the forces on walls.
void add_walls(const graph::Finished& run, const Flow& flow, const Settings& s, Judged& to) {
    const Labels& l = flow.finest();
    const Report& r = flow.report;
    to.figure("lift coefficient", run.value(r.lift));
    to.figure("drag coefficient", run.value(r.drag));
    to.figure("moment coefficient", run.value(r.moment));
    const Coefficients all =
        coefficients(run.value(l.wall_sums), s.reference_values(flow.grid().dimensions()));
    to.figure("drag of pressure", all.pressure.drag);
    to.figure("drag of friction", all.friction.drag);
    if (const std::optional<Rotor> rotor = s.rotor()) {
        const RotorCoefficients whole = rotor_coefficients(run.value(l.wall_sums), *rotor);
        to.figure("thrust coefficient", whole.thrust), to.figure("power coefficient", whole.power);
        to.figure("figure of merit", whole.merit);
        for (std::size_t n = 0; n < rotor->stations.size(); ++n)
            to.figure(fmt::format("section lift at {:g} of the radius", rotor->stations[n]).c_str(),
                      section_lift(run.value(l.stations), n));
    }
    if (s.scheme().viscous()) {
        const YPlus y = y_plus(run.value(l.wall_sums), run.value(l.wall_extremes));
        to.figure("y+ of first cells, mean", y.mean), to.figure("y+ of first cells, largest", y.largest);
    }
    constexpr std::array<const char*, 6> kMeans{"mean lift coefficient",   "rms of the lift coefficient",
                                                "mean drag coefficient",   "rms of the drag coefficient",
                                                "mean moment coefficient", "rms of the moment coefficient"};
    if (s.averaged(run.simulation().step()) > 0)
        for (std::size_t n = 0; n < flow.shown.means.forces.size(); ++n)
            to.figure(kMeans[n], run.value(flow.shown.means.forces[n]));
}

}  // namespace

graph::Findings verify(const graph::Finished& run, const Flow& flow, const Settings& s) {
    const Labels& l = flow.finest();
    const Report& r = flow.report;
    Judged all;
    const double residual = run.value(r.residual), largest = run.value(r.largest_residual),
                 drop = residual == largest ? 1 : residual / largest;  // both may be 0
    all.figure("residual of density", residual);
    all.figure("residual over the largest", drop);
    all.figure("failed steps", run.value(r.failures));
    add_overlap(run, l, all);
    if (flow.shown.walls) add_walls(run, flow, s, all);
    double uniform = 0, error = 0;
    if (s.verify.uniform > 0) all.figure("departure from the far field", uniform = run.value(l.departure));
    if (s.verify.error > 0)
        all.figure("root-mean-square error of density",
                   error = std::sqrt(run.value(l.squared_error) / run.value(l.volume)));

    all.below("largest departure from the far field", "verify.uniform", uniform, s.verify.uniform);
    all.below("root-mean-square error of the density", "verify.error", error, s.verify.error);
    all.within("lift coefficient", "verify.lift", run.value(r.lift), s.verify.lift);
    all.within("drag coefficient", "verify.drag", run.value(r.drag), s.verify.drag);
    all.within("moment coefficient", "verify.moment", run.value(r.moment), s.verify.moment);
    if (s.rotor()) all.within("thrust coefficient", "verify.thrust", run.value(r.thrust), s.verify.thrust);
    if (s.steady()) all.below("residual of density over the largest one", "verify.drop", drop, s.verify.drop);
    if (all.checks.empty()) {
        graph::Findings found;
        found.figures = std::move(all.figures);
        found.what = "residual of density over the largest one", found.value = drop, found.limit = 1;
        found.source = "no cell is worse than at first";
        found.absent = "the case gives no limit (verify.lift, drag, moment, thrust, drop, uniform or error)";
        return found;
    }
    std::vector<Verification> criteria;
    for (const Check& check : all.checks) criteria.push_back(check.criterion());
    return graph::Findings::of(std::move(criteria), std::move(all.figures));
}

}  // namespace strata::flow
