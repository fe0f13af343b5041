// What changes the motion of atoms: the barostat beside what is known of the ideal gas and a plain loop over
// all pairs, minimisation, removal of drift, Langevin's thermostat for several kinds.
#include <cmath>
#include <numbers>

#include <fmt/format.h>

#include "methods/particles/random.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/solvers/md/md_runs.hpp"

using namespace strata;
using namespace strata::md;
using namespace strata::particles;
using namespace strata::md::tests;
using namespace strata::tests;

namespace {

/// At a pressure that is that of the start, about.
Settings liquid(std::vector<std::int64_t> patches, std::int64_t side = 4) {
    Settings s;
    s.cells = {side, side, side}, s.density = 0.8442, s.temperature = 2.2;
    s.patches = std::move(patches);
    s.precision = "double", s.shift = "force", s.cutoff = 2.5;
    s.thermostat = "v-rescale", s.thermostat_temperature = 1.2, s.thermostat_time = 0.2;
    s.barostat = "c-rescale", s.pressure = 3, s.compressibility = 0.05, s.barostat_time = 0.5;
    s.barostat_every = 5;
    s.steps = 1'000'000, s.thermo = 10, s.step = 0.004;
    return s;
}

/// Atoms that do not see each other.
Settings ideal_gas(const std::string& thermostat) {
    Settings s;
    s.cells = {2, 2, 2}, s.density = 0.5, s.temperature = 1;
    s.epsilons = {0}, s.cutoff = 0.5, s.skin = 1, s.patches = {1, 1, 1};
    s.thermostat = thermostat, s.thermostat_temperature = 1, s.thermostat_time = 0.2;
    s.barostat = "c-rescale", s.pressure = 0.5, s.compressibility = 2, s.barostat_time = 0.5;
    s.barostat_every = 2, s.least_scale = 0.4;
    s.steps = 1'000'000, s.thermo = 1, s.step = 0.02;
    return s;
}

/// Energy and virial of all pairs and nearest images, in the box of the moment.
std::array<double, 2> plain_sums(const Running& run, double scale) {
    const Settings& s = *run.settings;
    std::vector<std::array<double, 6>> all;
    for (const auto& [id, atom] : run.atoms()) all.push_back(atom);
    const double cut = s.cutoff, six_cut = std::pow(cut, -6), f_cut = 24 * six_cut * (2 * six_cut - 1) / cut,
                 u_cut = 4 * six_cut * (six_cut - 1);
    double energy = 0, virial = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i + 1; j < all.size(); ++j) {
            double square = 0;
            for (std::size_t c = 0; c < 3; ++c) {
                double d = all[i][c] - all[j][c];
                d -= s.length[c] * std::nearbyint(d / s.length[c]);
                square += scale * scale * d * d;
            }
            if (square >= cut * cut) continue;
            const double r = std::sqrt(square), six = std::pow(square, -3);
            energy += 4 * six * (six - 1) - u_cut + (r - cut) * f_cut;
            virial += 24 * six * (2 * six - 1) - r * f_cut;
        }
    return {energy, virial};
}

}  // namespace

TEST_CASE("the ideal gas has the volumes of its ensemble", "[md]") {
    const std::string kind = GENERATE("langevin", "v-rescale", "nose-hoover");
    const Running run(ideal_gas(kind));
    run.advance(500);
    std::vector<double> volumes, temperatures, pressures;
    for (int i = 0; i < 60'000; ++i) {
        run.advance(1);
        volumes.push_back(run.value(run.labels.thermo.volume));
        temperatures.push_back(run.value(run.labels.thermo.temperature));
        pressures.push_back(run.value(run.labels.thermo.pressure));
    }
    const Averages volume(volumes), temperature(temperatures), pressure(pressures);
    // V^n exp(-p V / k T), with n atoms whose momenta are free: all 32 of Langevin's.
    const double n = kind == "langevin" ? 32 : 31;
    CAPTURE(kind, volume.mean, volume.error, volume.variance, temperature.mean, pressure.mean);
    CHECK(volume.error < 0.008 * volume.mean);
    CHECK(std::abs(volume.mean - (n + 1) / 0.5) < 3.5 * volume.error);
    const double variance = (n + 1) / 0.25;
    std::vector<double> squares;
    for (const double each : volumes) squares.push_back(std::pow(each - (n + 1) / 0.5, 2));
    const Averages square(squares);
    CAPTURE(square.mean / variance, square.error / variance);
    CHECK(square.error < 0.06 * variance);
    CHECK(std::abs(square.mean - variance) < 3.5 * square.error);
    CHECK(std::abs(temperature.mean - 1) < 0.015);
    CHECK(std::abs(pressure.mean - 0.5) < 3.5 * pressure.error);
}

TEST_CASE("a box that changes has the energies and pressures of its lengths", "[md]") {
    // Downwards lists are made anew as well because the cutoff grows beside the box.
    const double pressure = GENERATE(-4.0, 12.0);
    Running* known = nullptr;
    std::unique_ptr<Running> first;
    for (const std::vector<std::int64_t>& patches :
         {std::vector<std::int64_t>{1, 1, 1}, {2, 2, 2}, {5, 1, 2}}) {
        Settings s = liquid(patches);
        s.pressure = pressure, s.barostat_time = 0.4;
        auto run = std::make_unique<Running>(s, 2);
        run->advance(100);
        const Thermo& t = run->labels.thermo;
        const double scale = run->value(run->labels.scale);
        const auto [energy, virial] = plain_sums(*run, scale);
        const double volume = run->settings->volume() * std::pow(scale, 3);
        CAPTURE(pressure, patches, scale);
        CHECK(std::abs(scale - 1) > 0.05);
        CHECK(run->value(run->labels.rebuilds) >= 3);
        CHECK(std::abs(run->value(t.volume) / volume - 1) < 1e-14);
        CHECK(std::abs(run->value(t.density) * volume / 256 - 1) < 1e-14);
        CHECK(std::abs(run->value(t.potential) - energy) < 1e-9 * std::abs(energy));
        CHECK(std::abs(run->value(t.pressure) - (2 * run->value(t.kinetic) + virial) / (3 * volume)) < 1e-9);
        if (known == nullptr) {
            first = std::move(run), known = first.get();
            continue;
        }
        double most = 0;
        for (const auto& [id, atom] : run->atoms())
            for (std::size_t c = 3; c < 6; ++c)
                most = std::max(most, std::abs(atom[c] - known->atoms().at(id)[c]));
        CHECK(most < 1e-8);
    }
}

TEST_CASE("no pair is missed and none is pruned that counts, while the box changes", "[md]") {
    Settings s = liquid({2, 1, 2});
    s.shift = "energy", s.barostat_time = 0.4;
    // In the cold crystal only the cutoff grows beside the box: a shell of neighbours comes into it. In the
    // liquid atoms use up the skin as well, of which in the end a third is left.
    const bool cold = GENERATE(true, false);
    if (cold)
        s.density = 0.9, s.temperature = s.thermostat_temperature = 1e-6, s.pressure = 12,
        s.compressibility = 0.015;
    else
        s.density = 0.95, s.temperature = 2.4, s.pressure = 14, s.compressibility = 0.02,
        s.least_scale = 0.955;
    const auto end = [&](double skin, double margin) {
        s.skin = skin, s.margin = margin;
        const Running run(s);
        run.advance(120);
        CAPTURE(cold, skin, run.value(run.labels.scale), run.value(run.labels.rebuilds));
        CHECK(run.value(run.labels.scale) < 0.962);
        if (cold) CHECK(run.value(run.labels.rebuilds) == 0);
        return run.atoms();
    };
    const auto usual = end(0.05, 0.05), unpruned = end(0.05, 0), far = end(0.6, 0);
    double most = 0;
    for (const auto& [id, atom] : usual) {
        CHECK(atom == unpruned.at(id));
        for (std::size_t c = 3; c < 6; ++c) most = std::max(most, std::abs(atom[c] - far.at(id)[c]));
    }
    CHECK(most < 1e-8);
}

TEST_CASE("lists are made anew before two atoms may have come into the cutoff of a smaller box", "[md]") {
    Settings s = liquid({2, 1, 2});
    s.density = 0.95, s.temperature = 2.4, s.pressure = 14, s.compressibility = 0.02, s.least_scale = 0.955;
    s.skin = 0.05;
    const Running run(s);
    auto then = run.atoms();
    std::int64_t rebuilds = 0;
    double nearest = 1;
    for (int step = 0; step < 120; ++step) {
        run.advance(1);
        const auto now = run.atoms();
        if (run.value(run.labels.rebuilds) > rebuilds) then = now, rebuilds = run.value(run.labels.rebuilds);
        double most = 0;
        for (const auto& [id, atom] : now) {
            const auto& before = then.at(id);
            most = std::max(most, std::hypot(atom[0] - before[0], atom[1] - before[1], atom[2] - before[2]));
        }
        const double left = run.settings->reach() - s.cutoff / run.value(run.labels.scale) - 2 * most;
        nearest = std::min(nearest, left);
    }
    CAPTURE(nearest, rebuilds);
    CHECK(nearest > -1e-12);
    CHECK(nearest < 0.03);  // and not long before
}

TEST_CASE("beside a barostat the pressure is the one asked for, and energy is conserved", "[md]") {
    Settings s = liquid({1, 1, 1}, 3);
    s.cutoff = 2.3, s.least_scale = 0.93;
    const auto drift = [&](double step) {
        s.step = step;
        const Running run(s);
        run.advance(std::lround(8 / step));
        const Thermo& t = run.labels.thermo;
        const double first = run.value(t.conserved), total = run.value(t.total);
        std::vector<double> pressures, temperatures;
        double most = 0;
        for (int i = 0; i < 1200; ++i) {
            run.advance(10);
            pressures.push_back(run.value(t.pressure)), temperatures.push_back(run.value(t.temperature));
            most = std::max(most, std::abs(run.value(t.total) - total));
        }
        const Averages pressure(pressures), temperature(temperatures);
        CAPTURE(step, pressure.mean, pressure.error, temperature.mean, temperature.error, most);
        CHECK(std::abs(pressure.mean - 3) < 3.5 * pressure.error);
        CHECK(std::abs(temperature.mean - 1.2) < 3.5 * temperature.error);
        CHECK(most > 20);
        return std::abs(run.value(t.conserved) - first) / (1200 * 10 * step);
    };
    const double coarse = drift(0.004), fine = drift(0.002);
    CAPTURE(coarse, fine);
    CHECK(coarse < 0.05);
    CHECK(fine < 0.5 * coarse);
}

TEST_CASE("a metal in a box that changes has the forces of its lengths", "[md]") {
    Settings s;
    s.units_name = "metal", s.names = {"Cu"}, s.form = "eam", s.potential_file = COPPER;
    s.cells = {4, 4, 4}, s.density = 0.08467, s.temperature = 600, s.skin = 0.5, s.step = 0.002;
    s.thermostat = "langevin", s.thermostat_temperature = 300, s.thermostat_time = 0.1;
    s.barostat = "c-rescale", s.pressure = 2e5, s.compressibility = 7e-7, s.barostat_time = 0.1;
    s.barostat_every = 1, s.steps = 1000, s.thermo = 1;
    s.patches = {1, 1, 1};
    const Running one(s);
    one.advance(150);
    s.patches = {2, 1, 2}, s.skin = 1.5, s.margin = 0;
    const Running other(s, 2);
    other.advance(150);
    const Thermo &t = one.labels.thermo, &u = other.labels.thermo;
    CHECK(one.value(one.labels.scale) < 0.985);
    CHECK(std::abs(one.value(t.volume) - other.value(u.volume)) < 1e-8 * one.value(t.volume));
    CHECK(std::abs(one.value(t.potential) - other.value(u.potential)) < 1e-7);
    // The energy changes with the volume as the pressure says: what is conserved stays, within little of the
    // 13 eV that p dV is.
    CHECK(std::abs(one.value(t.conserved) - one.value(t.first)) < 0.3);
    // 63.546 g/mol
    CHECK(std::abs(one.value(t.density) * one.value(t.volume) * 0.602214129 / (256 * 63.546) - 1) < 1e-3);
}

TEST_CASE("a box that would shrink too far ends the run with what to do", "[md]") {
    Settings s = liquid({2, 2, 2});
    s.pressure = 60, s.barostat_time = 0.4;
    const Running run(s);
    const std::string said = refusal([&] { run.advance(200); });
    CAPTURE(said);
    CHECK(has(said, "barostat.least"));
}

TEST_CASE("keys that do not fit each other are refused", "[md]") {
    const auto refused = [](Settings s) { return refusal([&] { complete(s, schema(s)); }); };
    Settings s = liquid({});
    CHECK(refused(s).empty());
    s.thermostat = "none";
    CHECK(has(refused(s), "barostat.kind"));
    s = liquid({});
    s.compressibility = 0;
    CHECK(has(refused(s), "barostat.compressibility"));
    s = liquid({});
    s.least_scale = 0.5;
    CHECK(has(refused(s), "barostat.least"));
    s = liquid({});
    s.barostat = "none", s.method = "fire";
    CHECK(has(refused(s), "thermostat.kind"));
}

namespace {

/// Until the largest force is small, or `most` steps.
Running minimised(Settings s, std::int64_t most) {
    s.method = "fire", s.steps = most, s.temperature = 0;
    Running run(std::move(s));
    run.simulation->stop_when<std::int32_t>(run.labels.done, [](std::int32_t done) { return done != 0; });
    run.advance(most + 10);
    return run;
}

std::string xyz(const std::string& lattice, const std::vector<std::pair<std::string, Real3>>& atoms) {
    std::string text = fmt::format("{}\nLattice=\"{}\" Properties=species:S:1:pos:R:3 pbc=\"T T T\"\n",
                                   atoms.size(), lattice);
    for (const auto& [name, x] : atoms)
        text += fmt::format("{} {:.17g} {:.17g} {:.17g}\n", name, x[0], x[1], x[2]);
    return text;
}

}  // namespace

TEST_CASE("a cluster of 13 atoms finds the icosahedron", "[md]") {
    // Global minimum: D. J. Wales, J. P. K. Doye, J. Phys. Chem. A 101 (1997) 5111, -44.326801 epsilon.
    const double phi = std::numbers::phi, unit = 1.15 / std::hypot(1.0, phi);
    std::vector<std::pair<std::string, Real3>> atoms{{"X", {8.05, 7.96, 8.02}}};
    for (const double a : {-unit, unit})
        for (const double b : {-unit * phi, unit * phi}) {
            const double d = 0.05 * a + 0.03 * b;
            atoms.push_back({"X", {8 + d, 8 + a, 8 + b}});
            atoms.push_back({"X", {8 + a, 8 + b, 8 - d}});
            atoms.push_back({"X", {8 + b, 8 + d, 8 + a}});
        }
    const TemporaryFolder folder;
    Settings s;
    s.file = folder.write("cluster.xyz", xyz("16 0 0 0 16 0 0 0 16", atoms)).string();
    s.cutoff = 6, s.least_force = 1e-8;
    for (const std::vector<std::int64_t>& patches : {std::vector<std::int64_t>{1, 1, 1}, {2, 2, 2}}) {
        s.patches = patches;
        const Running run = minimised(s, 3000);
        CAPTURE(run.simulation->step(), run.value(run.labels.thermo.potential));
        CHECK(run.simulation->step() < 1000);
        CHECK(run.value(run.labels.thermo.largest_force) <= 1e-8);
        CHECK(std::abs(run.value(run.labels.thermo.potential) + 44.326801) < 1e-6);
    }
    // The run ends at its last step, too, without the minimum.
    s.patches = {1, 1, 1};
    const Running early = minimised(s, 20);
    CHECK(early.simulation->step() == 20);
    CHECK(early.value(early.labels.thermo.largest_force) > 1e-3);
}

TEST_CASE("a crystal that was disturbed goes back to its lattice", "[md]") {
    const double a = 1.5496;  // near the minimum for this cutoff
    Settings s;
    s.cells = {4, 4, 4}, s.density = 4 / (a * a * a), s.shift = "force", s.cutoff = 2.5;
    const auto lattice = [](Settings of) {
        of.temperature = 0, of.steps = 1, of.patches = {1, 1, 1}, of.precision = "double";
        return Running(of);
    };
    const Running whole = lattice(s);
    std::vector<std::pair<std::string, Real3>> atoms;
    for (const auto& [id, atom] : whole.atoms()) {
        const auto shake = normal(dice(id, 0, 5, 9));
        Real3 x{};
        for (std::size_t c = 0; c < 3; ++c) x[c] = atom[c] + 0.06 * shake[c];
        atoms.push_back({"X", x});
    }
    const TemporaryFolder folder;
    const std::string edge = fmt::format("{:.17g}", 4 * a);
    Settings shaken = s;
    shaken.cells = {}, shaken.density = 0;
    shaken.file =
        folder.write("crystal.xyz", xyz(edge + " 0 0 0 " + edge + " 0 0 0 " + edge, atoms)).string();
    shaken.patches = {2, 1, 3}, shaken.least_force = 1e-9;
    const Running run = minimised(shaken, 2000);
    CAPTURE(run.simulation->step());
    CHECK(run.value(run.labels.thermo.largest_force) <= 1e-9);
    CHECK(std::abs(run.value(run.labels.thermo.potential) - whole.value(whole.labels.thermo.potential)) <
          1e-9);
}

TEST_CASE("the motion of all together is taken away, and counted", "[md]") {
    const std::string kind = GENERATE("langevin", "v-rescale");
    Settings s = liquid({2, 2, 1}, 3);
    s.barostat = "none", s.cutoff = 2.3, s.thermostat = kind, s.thermo = 1;
    s.remove_drift = GENERATE(1, 7);
    // A file's velocities have a momentum.
    const TemporaryFolder folder;
    const double edge = 3 * std::cbrt(4 / 0.8442);
    std::string text = fmt::format(
        "108\nLattice=\"{0:.17g} 0 0 0 {0:.17g} 0 0 0 {0:.17g}\" "
        "Properties=species:S:1:pos:R:3:velo:R:3\n",
        edge);
    {
        Settings plain = s;
        plain.thermostat = "none", plain.remove_drift = 0, plain.patches = {1, 1, 1};
        for (const auto& [id, x] : Running(plain).atoms())
            text += fmt::format("X {:.17g} {:.17g} {:.17g} {:.17g} {:.17g} {:.17g}\n", x[0], x[1], x[2],
                                x[3] + 0.5, x[4], x[5] - 0.3);
    }
    s.file = folder.write("moving.xyz", text).string();
    s.cells = {}, s.density = 0, s.temperature = -1;
    const Running run(s);
    const Thermo& t = run.labels.thermo;
    CAPTURE(kind, s.remove_drift);
    CHECK(s.degrees_of_freedom(108) == 321);
    CHECK(run.value(t.momentum) > 30);
    const double first = run.value(t.conserved);
    run.advance(1);
    CHECK(run.value(t.momentum) < (kind == "langevin" ? 10 : 1e-9));
    run.advance(139);
    double most = 0;
    for (int i = 0; i < 7; ++i) {
        run.advance(1);
        most = std::max(most, run.value(t.momentum));
    }
    // What noise brings in a step: sqrt(3 N T (1 - exp(-2 dt / time))) of momentum.
    CHECK(most < (kind == "langevin"
                      ? 4 * std::sqrt(3.0 * 108 * 1.2 * 0.04 * static_cast<double>(s.remove_drift))
                      : 1e-9));
    CHECK(std::abs(run.value(t.conserved) - first) < 0.5);
}

TEST_CASE("Langevin's thermostat gives each of several kinds the temperature", "[md]") {
    const TemporaryFolder folder;
    std::vector<std::pair<std::string, Real3>> atoms;
    for (int i = 0; i < 125; ++i)
        atoms.push_back(
            {i % 3 == 0 ? "A" : "B", {0.6 + 1.2 * (i % 5), 0.6 + 1.2 * (i / 5 % 5), 0.6 + 1.2 * (i / 25)}});
    Settings s;
    s.file = folder.write("two.xyz", xyz("6 0 0 0 6 0 0 0 6", atoms)).string();
    s.names = {"A", "B"}, s.given_masses = {1, 9}, s.temperature = 1;
    s.shift = "force", s.cutoff = 2.5, s.patches = {2, 1, 1}, s.step = 0.004;
    s.thermostat = "langevin", s.thermostat_temperature = 1.3, s.thermostat_time = 0.1;
    s.steps = 1'000'000, s.thermo = 1;
    const Running run(s);
    run.advance(500);
    const Thermo& t = run.labels.thermo;
    const double first = run.value(t.conserved), total = run.value(t.total);
    std::vector<double> of[2], all;
    double most = 0;
    for (int i = 0; i < 600; ++i) {
        run.advance(10);
        double sums[2] = {};
        for (const auto& [id, atom] : run.atoms())
            for (std::size_t c = 3; c < 6; ++c) sums[(id - 1) % 3 == 0 ? 0 : 1] += atom[c] * atom[c];
        of[0].push_back(sums[0] / (3 * 42)), of[1].push_back(9 * sums[1] / (3 * 83));
        all.push_back(run.value(t.temperature));
        most = std::max(most, std::abs(run.value(t.total) - total));
    }
    const Averages light(of[0]), heavy(of[1]), temperature(all);
    CAPTURE(light.mean, light.error, heavy.mean, heavy.error, temperature.mean, temperature.error);
    CHECK(light.error < 0.015);
    CHECK(heavy.error < 0.015);
    CHECK(std::abs(light.mean - 1.3) < 3.5 * light.error);
    CHECK(std::abs(heavy.mean - 1.3) < 3.5 * heavy.error);
    CHECK(std::abs(temperature.mean - 1.3) < 3.5 * temperature.error + 0.005);
    // The variance of a kinetic energy with so many degrees of freedom
    for (const int k : {0, 1}) {
        std::vector<double> squares;
        for (const double each : of[k]) squares.push_back(std::pow(each - 1.3, 2));
        const Averages square(squares);
        const double expected = 2 * 1.3 * 1.3 / (k == 0 ? 126 : 249);
        CAPTURE(k, square.mean / expected, square.error / expected);
        CHECK(square.error < 0.12 * expected);
        CHECK(std::abs(square.mean - expected) < 3.5 * square.error);
    }
    CHECK(most > 20);
    CHECK(std::abs(run.value(t.conserved) - first) < 0.03 * most);
}
