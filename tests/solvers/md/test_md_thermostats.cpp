// Thermostats by themselves, on velocities that nothing else changes: the distributions that they keep and
// how soon they forget, to a percent, as so many values with a known correlation allow. Then in a fluid,
// whose limits are the standard errors of blocks.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "solvers/md/thermostat.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/md/md_runs.hpp"

using namespace strata;
using namespace strata::md;
using strata::md::tests::Averages, strata::md::tests::Running;

namespace {

constexpr double kHeat = 1.5, kStep = 0.05;

Settings thermostat(const std::string& kind, double time) {
    Settings s;
    s.thermostat = kind, s.thermostat_temperature = kHeat, s.thermostat_time = time, s.step = kStep;
    return s;
}

/// Moments of a stationary series, and its correlation from one value to the next.
struct Moments {
    double mean = 0, variance = 0, third = 0, next = 0;
    explicit Moments(const std::vector<double>& x) {
        const auto n = static_cast<double>(x.size());
        for (const double each : x) mean += each / n;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double off = x[i] - mean;
            variance += off * off / n, third += off * off * off / n;
            if (i > 0) next += off * (x[i - 1] - mean) / (n - 1);
        }
        next /= variance;
    }
};

}  // namespace

TEST_CASE("rescaling has the kinetic energies of the canonical ensemble, each by its degrees of freedom",
          "[md]") {
    // 2 K / kT has a chi-square distribution: mean n, variance 2 n, third moment 8 n. It forgets by
    // exp(-step / time) (Bussi, Donadio and Parrinello 2007, equation 7).
    constexpr int kMany = 200'000;
    const double degrees = GENERATE(3.0, 9.0, 321.0);
    const Settings s = thermostat("v-rescale", kStep);
    double kinetic = 7 * degrees;
    std::vector<double> all;
    for (int step = 1; step <= kMany + 20; ++step) {
        const double factor = rescaling(s, kinetic, degrees, step);
        kinetic *= factor * factor;
        if (step > 20) all.push_back(2 * kinetic / kHeat);
    }
    const Moments found(all);
    CAPTURE(degrees, found.mean, found.variance, found.third, found.next);
    // A correlation of c to the next value leaves (1 - c) / (1 + c) of them; of squares c^2.
    const double c = std::exp(-1.0), of_mean = std::sqrt((1 + c) / (1 - c) / kMany),
                 of_squares = std::sqrt((1 + c * c) / (1 - c * c) / kMany);
    CHECK(std::abs(found.mean / degrees - 1) < 4 * std::sqrt(2 / degrees) * of_mean);
    CHECK(std::abs(found.variance / (2 * degrees) - 1) < 4 * std::sqrt(2 + 12 / degrees) * of_squares);
    CHECK(std::abs(found.next - c) < 0.02);
    if (degrees < 100) CHECK(std::abs(found.third / (8 * degrees) - 1) < 0.1);
}

TEST_CASE("friction and noise keep Maxwell's velocities of each kind, and forget by exp(-t / time)", "[md]") {
    constexpr std::int64_t kAtoms = 2000;
    constexpr int kSteps = 100;
    const Settings s = thermostat("langevin", 2 * kStep);
    const std::array<double, 2> shares{1, 4};  // of masses
    std::array<std::vector<double>, 3> x, v;
    std::vector<std::int64_t> id(kAtoms);
    std::vector<std::int32_t> species(kAtoms);
    for (std::size_t c = 0; c < 3; ++c) x[c].assign(kAtoms, 0), v[c].assign(kAtoms, 0);
    for (std::int64_t i = 0; i < kAtoms; ++i)
        id[static_cast<std::size_t>(i)] = i + 1, species[static_cast<std::size_t>(i)] = i % 2;
    double* const places[3] = {x[0].data(), x[1].data(), x[2].data()};
    double* const speeds[3] = {v[0].data(), v[1].data(), v[2].data()};
    double heat = 0;
    std::array<std::array<double, 4>, 2> sums{};  // of each kind: squares, fourth powers, with the last, ways
    const auto kinetic = [&] {
        double sum = 0;
        for (const auto& of : v)
            for (std::size_t i = 0; i < kAtoms; ++i)
                sum += shares[static_cast<std::size_t>(species[i])] * of[i] * of[i] / 2;
        return sum;
    };
    for (int step = 1; step <= kSteps + 20; ++step) {
        const auto x_before = x, v_before = v;
        double gained = 0;
        const double before = kinetic(),
                     longest = drift_with_noise(s, kAtoms, places, speeds, id.data(), species.data(),
                                                shares.data(), {}, step, gained);
        REQUIRE(gained == Approx(kinetic() - before));
        double farthest = 0;
        for (std::size_t i = 0; i < kAtoms; ++i) {
            double way = 0;
            for (std::size_t c = 0; c < 3; ++c) {
                // Half of the step before the noise, half behind it.
                REQUIRE(x[c][i] - x_before[c][i] ==
                        Approx(kStep / 2 * (v_before[c][i] + v[c][i])).margin(1e-12));
                way += std::pow(x[c][i] - x_before[c][i], 2);
                if (step <= 20) continue;
                auto& of = sums[static_cast<std::size_t>(species[i])];
                of[0] += v[c][i] * v[c][i], of[1] += std::pow(v[c][i], 4);
                of[2] += v[c][i] * v_before[c][i], of[3] += v[c][i];
            }
            farthest = std::max(farthest, way);
        }
        CHECK(longest == Approx(farthest));
        heat += gained;
    }
    CHECK(heat == Approx(kinetic()));
    const double c = std::exp(-0.5), many = 1.5 * kAtoms * kSteps;
    for (std::size_t kind = 0; kind < 2; ++kind) {
        const double of = kHeat / shares[kind], squares = sums[kind][0] / many;
        CAPTURE(kind, squares, of);
        // As many values as 300,000 with that correlation: 0.27 % of the variance.
        const double error = std::sqrt(2 * (1 + c * c) / (1 - c * c) / many);
        CHECK(std::abs(squares / of - 1) < 4 * error);
        CHECK(std::abs(sums[kind][1] / many / (3 * of * of) - 1) < 10 * error);
        CHECK(std::abs(sums[kind][2] / many / of - c) < 4 * error);
        CHECK(std::abs(sums[kind][3] / many) < 4 * std::sqrt(of * (1 + c) / (1 - c) / many));
    }
}

namespace {

/// An oscillator of frequency 1 with a chain of thermostats, whose time is 1.
struct Oscillator {
    Settings s = thermostat("nose-hoover", 1);
    Chain chain;
    double x = 1, v = 0.5;

    void advance() {
        v -= s.step / 2 * x;
        x += s.step / 2 * v;
        v *= chain.advance(s, v * v / 2, 1);
        x += s.step / 2 * v;
        v -= s.step / 2 * x;
    }
    [[nodiscard]] double conserved() const { return (x * x + v * v) / 2 + chain.energy(s, 1); }
};

}  // namespace

TEST_CASE("a chain gives a single oscillator the canonical distribution, which one thermostat does not",
          "[md]") {
    // G. J. Martyna, M. L. Klein, M. Tuckerman, J. Chem. Phys. 97 (1992) 2635: place and velocity are normal,
    // both with the variance kT.
    Oscillator swings;
    std::vector<double> places, speeds, fourths;
    for (int step = 0; step < 1'000'000; ++step) {
        swings.advance();
        const double x = swings.x, v = swings.v;
        places.push_back(x * x), speeds.push_back(v * v), fourths.push_back(x * x * x * x);
    }
    const Averages place(places), speed(speeds), fourth(fourths);
    CAPTURE(place.mean, place.error, speed.mean, speed.error, fourth.mean, fourth.error);
    for (const Averages& each : {place, speed}) {
        CHECK(each.error < 0.01 * kHeat);
        CHECK(std::abs(each.mean - kHeat) < 4 * each.error);
    }
    CHECK(fourth.error < 0.03 * 3 * kHeat * kHeat);
    CHECK(std::abs(fourth.mean - 3 * kHeat * kHeat) < 4 * fourth.error);
}

TEST_CASE("a chain keeps its conserved energy with second order", "[md]") {
    const auto most = [](double step) {
        Oscillator swings;
        swings.s.step = step;
        const double first = swings.conserved();
        double found = 0;
        for (int i = 0; i < std::lround(10 / step); ++i) {
            swings.advance();
            found = std::max(found, std::abs(swings.conserved() - first));
        }
        return found;
    };
    const double coarse = most(0.02), fine = most(0.01);
    CAPTURE(coarse, fine);
    CHECK(std::log2(coarse / fine) == Approx(2).margin(0.1));
}

TEST_CASE("thermostats keep a fluid's temperature, with the fluctuations of the canonical ensemble", "[md]") {
    const std::string kind = GENERATE("langevin", "v-rescale", "nose-hoover");
    CAPTURE(kind);
    Settings s;
    s.cells = {3, 3, 3}, s.density = 0.8442, s.temperature = 2.5;
    s.patches = {2, 1, 1}, s.precision = "double", s.shift = "force";
    s.thermostat = kind, s.thermostat_temperature = kHeat, s.thermostat_time = 0.1;
    s.step = 0.004, s.thermo = 1, s.steps = 1'000'000;
    const Running run(s);
    const Thermo& thermo = run.labels.thermo;
    run.advance(1000);
    const double first = run.value(thermo.conserved), heat = run.value(thermo.total) - first;
    std::vector<double> temperatures, squares;
    double drift = 0, most = 0;
    for (int i = 0; i < 12'000; ++i) {
        run.advance(1);
        const double now = run.value(thermo.temperature);
        temperatures.push_back(now), squares.push_back((now - kHeat) * (now - kHeat));
        drift = std::max(drift, std::abs(run.value(thermo.conserved) - first));
        most = std::max(most, std::abs(run.value(thermo.total) - run.value(thermo.conserved) - heat));
    }
    // Blocks of 2.4 tau, 24 times the thermostat's, are independent.
    const Averages temperature(temperatures), square(squares);
    const double expected = 2 * kHeat * kHeat / run.settings->degrees_of_freedom(108);
    CAPTURE(temperature.mean, temperature.error, square.mean / expected, square.error / expected, drift,
            most);
    CHECK(temperature.error < 0.01 * kHeat);
    CHECK(std::abs(temperature.mean - kHeat) < 3.5 * temperature.error);
    CHECK(square.error < 0.1 * expected);
    CHECK(std::abs(square.mean - expected) < 3.5 * square.error);
    // Energy went in and out, and the sum of both is kept.
    CHECK(most > 20);
    CHECK(drift < 0.05 * most);
}
