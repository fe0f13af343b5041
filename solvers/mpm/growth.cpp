#include "solvers/mpm/growth.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "solvers/mpm/step.hpp"

namespace strata::mpm {

using namespace graph;

namespace {

/// Whether walls or plates move: they do work that nobody adds up.
bool driven(const Settings& s) {
    const auto moves = [](const auto& wall) { return wall.velocity != Real3{}; };
    return std::ranges::any_of(s.walls, moves) || std::ranges::any_of(s.plates, moves);
}

/// Cells a second of waves and points, as far as the case itself lets them.
double expected_rate(const Settings& s) {
    const Real3 h = s.spacing();
    double waves = 0, fastest = std::abs(s.amplitude);
    for (const Material& m : s.materials) waves = std::max(waves, m.wave_speed());
    for (const Body& body : s.bodies)
        for (const double v : body.velocity) fastest = std::max(fastest, std::abs(v));
    for (const Plate& plate : s.plates)
        for (const double v : plate.velocity) fastest = std::max(fastest, std::abs(v));
    for (const GivenWall& wall : s.walls)
        for (const double v : wall.velocity) fastest = std::max(fastest, std::abs(v));
    for (const double g : s.gravity) fastest = std::max(fastest, std::abs(g) * s.end);
    return (waves + fastest) / std::min({h[0], h[1], h[2]});
}

/// An energy that is nothing for this case: that of a strain of 1e-6 in one cell.
double no_energy(const Settings& s) {
    const Real3 h = s.spacing();
    double modulus = 0;
    for (const Material& m : s.materials) modulus = std::max(modulus, m.modulus());
    return 1e-12 * modulus * h[0] * h[1] * h[2];
}

}  // namespace

void make_growth_labels(const Step& step) {
    step.labels.given = step.graph.scalar<double>("largest energy given", {.history = 1, .unit = "J"});
    step.labels.alarm = step.graph.scalar<std::array<double, kAlarms>>("alarm", {.history = 1});
}

void look_for_growth(const Step& step) {
    const Labels& l = step.labels;
    const Settings& s = step.settings;
    Task task = step.graph.step().once("look for growth");
    const auto kinetic = task.need(l.kinetic), strain = task.need(l.strain), work = task.need(l.work),
               first = task.need(l.first_energy), wave = task.need(l.wave_rate),
               flow = task.need(l.flow_rate), before = task.need(l.given.previous());
    ScalarUse<const double> plastic, rubbed;
    if (s.plastic()) plastic = task.need(l.plastic_work);
    if (s.rubs()) rubbed = task.need(l.rubbed);
    const auto given = task.make(l.given);
    const auto alarm = task.make(l.alarm);
    // Forces on surfaces and ends make light bodies as fast as they like.
    const bool by_energy = !driven(s), pushed = s.loads();
    task.run([=, plastics = s.plastic(), rubs = s.rubs(), most = kMostRate * expected_rate(s),
              nothing = no_energy(s)](Here& here) {
        here[given] = std::max({here[before], std::abs(here[first]) + std::abs(here[work]), nothing});
        double won = here[kinetic] + here[strain] - here[work] - here[first];
        if (plastics) won += here[plastic];
        if (rubs) won += here[rubbed];
        const double rate = here[wave] + (pushed ? 0 : here[flow]);
        // The work is that of the steps before, the kinetic energy this step's: a load that rises from 0 has
        // moved points before it has worked.
        const bool worked = !pushed || here[work] != 0;
        here[alarm] = {};
        if (rate > most)
            here[alarm] = {std::max(here[kinetic] + here[strain], nothing), here[given],
                           kMostRate * rate / most, here[flow]};
        else if (by_energy && worked && won > kMostGrowth * here[given])
            here[alarm] = {here[kinetic] + here[strain], here[given], 0, here[flow]};
    });
}

GrowthCheck::GrowthCheck(const Step& step, Task& task, ListUse<const double> x, ListUse<const double> v,
                         ListUse<const double> mass)
    : alarm_(task.need(step.labels.alarm.previous())),
      x_(x),
      v_(v),
      mass_(mass),
      per_h_(step.lattice().per_h),
      linear_(std::ranges::any_of(step.settings.materials,
                                  [](const Material& m) { return m.law == Law::linear; })),
      cfl_(step.cfl) {}

void GrowthCheck::end(const Here& here) const {
    const std::array<double, kAlarms>& alarm = here[alarm_];
    std::int64_t fastest = 0;
    double most = 0;
    for (std::int64_t i = 0; i < here[mass_].size(); ++i)
        for (int c = 0; c < 3 && here[mass_][i] > 0; ++c) {
            const double rate = std::abs(here[v_].component(c)[static_cast<std::size_t>(i)]) *
                                per_h_[static_cast<std::size_t>(c)];
            if (rate > most) most = rate, fastest = i;
        }
    if (here[mass_].size() == 0 || most < alarm[kAlarmFastest]) return;  // it is on another patch
    const auto at = static_cast<std::size_t>(fastest);
    const auto component = [&](ListUse<const double> of, int c) { return here[of].component(c)[at]; };
    const double speed = std::hypot(component(v_, 0), component(v_, 1), component(v_, 2));
    const std::string grew =
        alarm[kAlarmRate] > 0
            ? fmt::format(
                  "waves and points cross {:.3g} times as many cells a second as the case lets them "
                  "(allowed: {:g}), so steps would shrink to nothing",
                  alarm[kAlarmRate], kMostRate)
            : fmt::format(
                  "energy grows without a source: more than {:g} times the {:.4g} J that the start "
                  "and loads have given",
                  kMostGrowth, alarm[kAlarmGiven]);
    const char* const law =
        linear_ ? "the law \"neo-hookean\" (\"linear\" is for small strains and rotations alone), " : "";
    here.fail(fmt::format(
        "{}. Kinetic and strain energy are {:.4g} J after the step before; the fastest point, at ({:.6g}, "
        "{:.6g}, "
        "{:.6g}) m, has {:.4g} m/s. The step is unstable, or points cross cells under more stress than these "
        "shape functions bear. Try {}a smaller time.cfl (now {:g}), or method.shape \"quadratic\" or "
        "\"gimp\"",
        grew, alarm[kAlarmEnergy], component(x_, 0), component(x_, 1), component(x_, 2), speed, law, *cfl_));
}

}  // namespace strata::mpm
