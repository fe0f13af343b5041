#include "solvers/md/thermostat.hpp"

#include <algorithm>
#include <cmath>

#include "methods/particles/random.hpp"

namespace strata::md {

using namespace particles;

namespace {

/// What asks for random numbers (random.hpp), besides the first velocities.
constexpr std::uint32_t kNoise = 1, kGamma = 2;

}  // namespace

double gamma_number(double shape, std::int64_t step, std::uint32_t seed) {
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (std::int64_t attempt = 1;; ++attempt) {
        const double x = normal(dice(attempt, step, seed, kGamma))[0];
        const double u = unit(dice(-attempt, step, seed, kGamma)[0]);
        const double v = std::pow(1 + c * x, 3);
        if (v > 0 && std::log(u) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
    }
}

double rescaling(const Settings& s, double kinetic, double degrees, std::int64_t step) {
    if (!(kinetic > 0)) return 1;
    const auto seed = static_cast<std::uint32_t>(s.seed);
    const double keep = std::exp(-s.step / s.thermostat_time);
    const double share =
        s.thermostat_heat() / (2 * kinetic);  // the mean kinetic energy over degrees and this one
    const double one = normal(dice(0, step, seed, kGamma))[0];
    const double others = degrees > 2 ? 2 * gamma_number((degrees - 1) / 2, step, seed) : 0;
    return std::sqrt(keep + (1 - keep) * share * (one * one + others) +
                     2 * one * std::sqrt(keep * (1 - keep) * share));
}

double Chain::mass(const Settings& s, double degrees, std::size_t link) const {
    const double of_one = s.thermostat_heat() * s.thermostat_time * s.thermostat_time;
    return link == 0 ? degrees * of_one : of_one;
}

double Chain::advance(const Settings& s, double kinetic, double degrees) {
    const double kT = s.thermostat_heat(), half = s.step / 2, quarter = s.step / 4, eighth = s.step / 8;
    double scale = 1;
    const auto pull = [&](std::size_t k) {
        const double before = k == 0 ? 2 * kinetic * scale * scale - degrees * kT
                                     : mass(s, degrees, k - 1) * speed[k - 1] * speed[k - 1] - kT;
        return before / mass(s, degrees, k);
    };
    const auto push = [&](std::size_t k) {
        const double drag = k + 1 < kLinks ? std::exp(-eighth * speed[k + 1]) : 1;
        speed[k] = (speed[k] * drag + quarter * pull(k)) * drag;
    };
    // Two halves of a step: what scales velocities is between the chain's own quarter steps.
    for (int part = 0; part < 2; ++part) {
        for (std::size_t k = kLinks; k-- > 0;) push(k);
        scale *= std::exp(-half * speed[0]);
        for (std::size_t k = 0; k < kLinks; ++k) place[k] += half * speed[k];
        for (std::size_t k = 0; k < kLinks; ++k) push(k);
    }
    return scale;
}

double Chain::energy(const Settings& s, double degrees) const {
    double sum = 0;
    for (std::size_t k = 0; k < kLinks; ++k)
        sum += mass(s, degrees, k) * speed[k] * speed[k] / 2 +
               (k == 0 ? degrees : 1) * s.thermostat_heat() * place[k];
    return sum;
}

Friction friction(const Settings& s) {
    const double keep = std::exp(-s.step / s.thermostat_time);
    return {keep, std::sqrt(s.thermostat_heat() * (1 - keep * keep))};
}

namespace {

template <bool several, bool boxed>
double drift_with(const Settings& s, std::int64_t count, double* const x[3], double* const v[3],
                  const std::int64_t* id, const std::int32_t* species, const double* shares,
                  const BoxChange& box, std::int64_t step, double& gained, const std::int32_t* groups) {
    const auto [keep, noise] = friction(s);
    const std::int32_t held = s.outside.held();
    double longest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        if (groups != nullptr && (groups[i] & held) != 0) continue;
        const std::array<double, 4> all =
            normal(dice(id[i], step, static_cast<std::uint32_t>(s.seed), kNoise));
        double share = 1, strength = noise;
        if constexpr (several) share = shares[species[i]], strength = noise / std::sqrt(share);
        double square = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            const double before = v[c][i], after = keep * before + strength * all[c];
            double way = s.step / 2 * (before + after);
            v[c][i] = after;
            if constexpr (boxed) {
                v[c][i] *= box.slower();
                way = s.step / 2 * (before / box.before + v[c][i] / box.after);
            }
            x[c][i] += way;
            square += way * way;
            const double more = (after * after - before * before) / 2;
            gained += several ? share * more : more;
        }
        longest = std::max(longest, square);
    }
    return longest;
}

}  // namespace

double drift_with_noise(const Settings& s, std::int64_t count, double* const x[3], double* const v[3],
                        const std::int64_t* id, const std::int32_t* species, const double* shares,
                        const BoxChange& box, std::int64_t step, double& gained, const std::int32_t* groups) {
    const auto go = s.changes_volume()
                        ? (species != nullptr ? drift_with<true, true> : drift_with<false, true>)
                        : (species != nullptr ? drift_with<true, false> : drift_with<false, false>);
    return go(s, count, x, v, id, species, shares, box, step, gained, groups);
}

}  // namespace strata::md
