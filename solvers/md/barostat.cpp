#include "solvers/md/barostat.hpp"

#include <cmath>

#include "methods/particles/random.hpp"
#include "solvers/md/step.hpp"
#include "solvers/md/thermo.hpp"

namespace strata::md {

using namespace particles;

using namespace graph;

namespace {

constexpr std::uint32_t kVolume = 3;  // what asks for random numbers (random.hpp)

}  // namespace

Barostat::Barostat(const Settings& s, const LongRange& beyond)
    : beyond_(beyond),
      first_volume_(s.volume()),
      pressure_(s.pressure / s.units->energy_density),
      heat_(s.units->boltzmann * s.thermostat_temperature),
      mobility_(s.compressibility * s.units->energy_density / (4 * s.barostat_time)),
      interval_(static_cast<double>(s.barostat_every) * s.step),
      seed_(static_cast<std::uint32_t>(s.seed)) {}

double Barostat::force(const Moment& now, double scale) const {
    const double v = volume(scale), root = std::sqrt(v);
    const double inside = (2 * now.kinetic + now.virial + beyond_.virial / v) / (3 * v);
    return 2 * root * (inside - pressure_) + heat_ / root;
}

double Barostat::advance(const Moment& now, double scale, std::int64_t step) const {
    const double root = std::sqrt(volume(scale)), noise = normal(dice(0, step, seed_, kVolume))[0];
    const double next = root + mobility_ * interval_ * force(now, scale) +
                        std::sqrt(2 * mobility_ * heat_ * interval_) * noise;
    return next > 0 ? std::cbrt(next * next / first_volume_) : 0;
}

double Barostat::work(const Moment& before, double scale_before, const Moment& after,
                      double scale_after) const {
    const double f = force(before, scale_before), g = force(after, scale_after);
    const double way = std::sqrt(volume(scale_after)) - std::sqrt(volume(scale_before));
    return (f + g) / 2 * way + mobility_ * interval_ / 4 * (g * g - f * f);
}

double Barostat::energy(double scale) const {
    const double v = volume(scale);
    return pressure_ * v - heat_ / 2 * std::log(v);
}

LennardJones shrunk(const LennardJones& real, double scale) {
    LennardJones pairs = real;
    for (double& each : pairs.epsilon) each /= scale;
    for (double& each : pairs.sigma) each /= scale;
    for (double& each : pairs.cutoff) each /= scale;
    return pairs;
}

Task scale_box(const Step& step) {
    const Labels& l = step.labels;
    Task begin = step.graph.start().once("begin box");
    begin.run([scale = begin.make(l.scale), work = begin.make(l.work)](Here& here) {
        here[scale] = 1, here[work] = 0;
    });
    Task task = step.graph.step().once("barostat");
    task.run([sums = task.need(l.sums.previous()), of_kinds = task.need(l.of_kinds),
              before = task.need(l.scale.previous()), scale = task.make(l.scale),
              &s = step.settings](Here& here) {
        here[scale] = here[before];
        if (!s.scales(here.step)) return;
        const Barostat barostat(s, beyond_cutoff(s, {here[of_kinds].begin(), s.kinds.size()}));
        here[scale] = barostat.advance(moment_of(s, here[sums]), here[before], here.step);
        if (!(here[scale] >= s.least_scale))
            here.fail(
                "the box has shrunk to less than barostat.least of its first length: start from a "
                "smaller box (or a larger one, if it came to this within a few steps), or set "
                "barostat.least lower");
    });
    return step.graph.step().once("add up work");
}

void add_up_work(const Step& step, Task add) {
    const Labels& l = step.labels;
    add.run([sums = add.need(l.sums), sums_before = add.need(l.sums.previous()),
             of_kinds = add.need(l.of_kinds), scale = add.need(l.scale),
             scale_before = add.need(l.scale.previous()), before = add.need(l.work.previous()),
             work = add.make(l.work), &s = step.settings](Here& here) {
        here[work] = here[before];
        if (!s.scales(here.step)) return;
        const Barostat barostat(s, beyond_cutoff(s, {here[of_kinds].begin(), s.kinds.size()}));
        here[work] += barostat.work(moment_of(s, here[sums_before]), here[scale_before],
                                    moment_of(s, here[sums]), here[scale]);
    });
}

}  // namespace strata::md
