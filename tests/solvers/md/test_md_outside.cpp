// What acts on atoms from outside: groups, forces, walls, open borders, tabulated pairs; against analytic
// results, a plain loop over all pairs, and numbers worked out by hand.
#include <cmath>
#include <cstring>
#include <map>

#include <fmt/format.h>

#include "core/graph/simulation/simulation.hpp"
#include "solvers/md/start.hpp"
#include "solvers/md/tasks.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata;
using namespace strata::md;
using namespace strata::tests;
using namespace strata::graph;

namespace {

using Vector = std::array<double, 3>;

/// A case in this process.
struct Running {
    explicit Running(const Settings& given, int threads = 1) : s(completed(given)), graph("md") {
        l = declare(graph, s);
        simulation =
            std::make_unique<Simulation>(graph, Members::alone(), SimulationOptions{.threads = threads});
        simulation->start();
    }
    static Settings completed(Settings s) {
        complete(s, schema(s));
        return s;
    }
    void advance(std::int64_t steps) const { simulation->advance(steps); }
    [[nodiscard]] double value(Scalar<double> scalar) const { return simulation->value(scalar); }
    /// A column of the series by its name.
    [[nodiscard]] double column(const std::string& name) const {
        for (const Scalar<double> each : l.thermo.all())
            if (graph.labels()[each.id()].name == name) return value(each);
        FAIL("no column " << name);
        return 0;
    }
    [[nodiscard]] bool has(const std::string& name) const {
        for (const Scalar<double> each : l.thermo.all())
            if (graph.labels()[each.id()].name == name) return true;
        return false;
    }
    /// Of each atom, by its number.
    [[nodiscard]] std::map<std::int64_t, Vector> vectors(Particles<double> label) const {
        std::map<std::int64_t, Vector> all;
        const int patches = static_cast<const Grid&>(*graph.families().front()).patches();
        for (int p = 0; p < patches; ++p) {
            const auto values = [&]<class T>(Particles<T> of) {
                std::vector<T> numbers;
                for (const Kept& kept : kept_versions(simulation->plan())) {
                    if (kept.label != of.id() || kept.back != 0) continue;
                    const std::vector<std::byte> bytes = simulation->values(kept, p);
                    numbers.resize(bytes.size() / sizeof(T));
                    if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
                }
                return numbers;
            };
            const auto ids = values(l.id);
            const auto x = values(label);
            for (std::size_t i = 0; i < ids.size(); ++i)
                all[ids[i]] = {x[i], x[ids.size() + i], x[2 * ids.size() + i]};
        }
        return all;
    }

    Settings s;
    Graph graph;
    Labels l;
    std::unique_ptr<Simulation> simulation;
};

/// A liquid on a lattice, in double precision.
Settings liquid(std::int64_t side, std::vector<std::int64_t> patches) {
    Settings s;
    s.cells = {side, side, side}, s.density = 0.8442, s.temperature = 1.0;
    s.patches = std::move(patches);
    s.precision = "double", s.shift = "force";
    s.step = 0.002, s.steps = 1'000'000, s.thermo = 10;
    return s;
}

/// Atoms that do not see each other, in a cube.
Settings ideal_gas(std::int64_t side, double length) {
    Settings s;
    s.lattice = "sc", s.cells = {side, side, side};
    s.density = std::pow(static_cast<double>(side) / length, 3);
    s.temperature = 1.5;
    s.patches = {1, 2, 2};
    s.epsilons = {0}, s.cutoff = 0.1, s.skin = 0.5;
    s.steps = 1'000'000;
    return s;
}

std::string refused(Settings s) {
    return refusal([&] { complete(s, schema(s)); });
}

}  // namespace

TEST_CASE("walls have the formulas of LAMMPS's fix wall, shifted to 0 at the cutoff", "[walls]") {
    const auto wall = [](const std::string& text) {
        std::vector<std::string_view> words;
        for (std::size_t at = 0; at < text.size(); at = text.find(' ', at) + 1) {
            words.push_back(std::string_view(text).substr(at, text.find(' ', at) - at));
            if (text.find(' ', at) == std::string::npos) break;
        }
        return Wall::of(words);
    };
    const auto lj93 = wall("zlo lj93 1.0 1.0 2.5"), lj126 = wall("xhi lj126 2.0 1.0 2.5"),
               spring = wall("ylo harmonic 10 1.0");
    REQUIRE((lj93 && lj126 && spring));
    CHECK(lj126->axis() == 0);
    CHECK(lj126->high());
    // 2/15 - 1, less 2/15 / 2.5^9 - 1 / 2.5^3; 6/5 - 3
    CHECK(std::abs(lj93->at(1).energy + 0.80270161920) < 1e-10);
    CHECK(std::abs(lj93->at(1).force + 1.8) < 1e-14);
    // 0, less 8 (2.5^-12 - 2.5^-6); 48 (2 - 1)
    CHECK(std::abs(lj126->at(1).energy - 0.0326337822720) < 1e-12);
    CHECK(std::abs(lj126->at(1).force - 48) < 1e-12);
    CHECK(std::abs(spring->at(0.4).energy - 3.6) < 1e-14);
    CHECK(std::abs(spring->at(0.4).force - 12) < 1e-13);
    for (const auto& each : {*lj93, *lj126, *spring}) {
        CHECK(each.at(each.cutoff()).energy == 0);
        CHECK(std::abs(each.at(each.cutoff() * (1 - 1e-9)).energy) < 1e-6);
        for (const double r : {0.7, 0.9, 0.97}) {
            const double h = 1e-6, slope = (each.at(r + h).energy - each.at(r - h).energy) / (2 * h);
            CHECK(std::abs(slope + each.at(r).force) < 1e-6 * (1 + std::abs(slope)));
        }
    }
    for (const char* wrong :
         {"zlo", "up reflect", "zlo lj93 1 1", "zlo lj93 1 0 2", "zlo reflect 1", "zlo soft 1 1"})
        CHECK_FALSE(wall(wrong));
}

TEST_CASE("groups are sets of atoms by kind, number and place, and what is no line says why", "[groups]") {
    Groups groups({"hot", "floor", "rest"}, {"A", "B"});
    for (const char* line :
         {"hot: kind B", "hot: id 10 to 12", "floor: z < 2.0 and not id 3", "floor: id 99",
          "rest: not group hot and not group floor and box 0 5 0 5 0 9", "rest: sphere 9 9 9 1"})
        CHECK(groups.add(line).empty());
    CHECK(groups.of(1, 1, {6, 6, 6}) == 1);
    CHECK(groups.of(11, 0, {6, 6, 1}) == 3);
    CHECK(groups.of(3, 0, {6, 6, 1}) == 0);
    CHECK(groups.of(99, 0, {6, 6, 6}) == 2);
    CHECK(groups.of(4, 0, {1, 1, 6}) == 4);
    CHECK(groups.of(4, 1, {1, 1, 6}) == 1);
    CHECK(groups.of(4, 0, {9, 9.5, 9}) == 4);
    CHECK(groups.of(4, 0, {9, 9.5, 8}) == 0);
    CHECK(*groups.bit("all") == 0);
    CHECK(*groups.bit("rest") == 4);
    for (const auto& [line, why] :
         std::map<std::string, std::string>{{"hot", "no group is named"},
                                            {"cold: all", "there is no group 'cold'"},
                                            {"hot: kind C", "'kind' begins no term"},
                                            {"hot: id 5 to 2", "'id' begins no term"},
                                            {"hot: z <", "'z' begins no term"},
                                            {"hot: all or all", "'or' is not \"and\""},
                                            {"hot:", "'' begins no term"}})
        CHECK(groups.add(line) == why);
}

TEST_CASE("what outside cannot be is refused by its key", "[md]") {
    Settings s = liquid(4, {});
    CHECK(refused(s).empty());
    s.outside.names = {"hot"};
    CHECK(has(refused(s), "nobody is in the group 'hot'"));
    s.outside.members = {"hot: z < 3"};
    CHECK(refused(s).empty());
    s.outside.frozen = {"cold"};
    CHECK(has(refused(s), "outside.frozen"));
    CHECK(has(refused(s), "allowed: hot"));
    s.outside.frozen = {}, s.outside.given_forces = {"hot 1 2"};
    CHECK(has(refused(s), "\"GROUP FX FY FZ\""));
    s.outside.given_forces = {}, s.outside.faces = {"zlo reflect"};
    CHECK(has(refused(s), "periodic border"));
    s.outside.boundary = {"periodic", "periodic", "walls"};
    CHECK(has(refused(s), "there is no wall zhi"));
    s.outside.boundary[2] = "open";
    CHECK(refused(s).empty());
    s.long_range = true, s.shift = "none";
    CHECK(has(refused(s), "pair.long_range"));
    s.long_range = false, s.shift_by = {0, 0, 1};
    CHECK(has(refused(s), "system.shift"));
    s.shift_by = {}, s.outside.names.resize(2, "all");
    CHECK(has(refused(s), "groups.names"));
    s = liquid(4, {});
    s.sphere = 0.25 * s.spacing();
    CHECK(has(refused(s), "no atom of the lattice is in the droplet"));
    s.sphere = 0.5 * s.spacing();
    CHECK(refused(s).empty());
    s = liquid(4, {});
    s.outside.names = {"none"}, s.outside.members = {"none: z > 1e3"};
    CHECK(has(refusal([&] { Running run(s); }), "no atom is in 'none: z > 1e3'"));
    // Of lines that add up each must hold one.
    s.outside.members = {"none: z > 0", "none: box 0 1 0 1 50 60"};
    CHECK(has(refusal([&] { Running run(s); }), "no atom is in 'none: box 0 1 0 1 50 60'"));
}

TEST_CASE("the energy is conserved in a box with walls, gravity, springs and frozen atoms, to second order",
          "[md]") {
    const auto drift = [](double step) {
        Settings s = liquid(5, {2, 1, 2});
        s.step = step, s.thermo = 1;
        s.box = {8.5, 10.0, 11.0};
        s.outside.boundary = {"periodic", "walls", "walls"};
        s.outside.faces = {"ylo harmonic 50 1.0", "yhi lj126 1 1 1.122462048309373", "zlo lj93 1 1 2.5",
                           "zhi lj93 0.5 1 2.5"};
        s.outside.names = {"fixed", "tied"};
        s.outside.members = {"fixed: z < 2.2", "tied: z > 8.4"};
        s.outside.frozen = {"fixed"};
        s.outside.given_springs = {"tied 20"};
        s.outside.given_accelerations = {"all 0 0 -0.5"};
        s.outside.series = {"fixed", "tied"};
        const Running run(s);
        const double first = run.value(run.l.thermo.conserved);
        CHECK(run.simulation->value(run.l.mobile) < run.simulation->value(run.l.atoms));
        const auto before = run.vectors(run.l.x);
        double most = 0;
        for (int i = 0; i < static_cast<int>(std::lround(0.4 / step)); ++i) {
            run.advance(1);
            most = std::max(most, std::abs(run.value(run.l.thermo.conserved) - first));
        }
        CHECK(run.value(run.l.thermo.potential) != first);
        int still = 0;
        for (const auto& [id, at] : run.vectors(run.l.x)) still += before.at(id) == at ? 1 : 0;
        CHECK(still == run.simulation->value(run.l.atoms) - run.simulation->value(run.l.mobile));
        CHECK(run.column("temperature of fixed") == 0);
        CHECK(run.column("temperature of tied") > 0);
        return most / run.value(run.l.thermo.kinetic);
    };
    const double coarse = drift(0.004), fine = drift(0.002);
    CAPTURE(coarse, fine);
    CHECK(coarse < 1e-3);
    CHECK(coarse / fine > 3);
    CHECK(coarse / fine < 5.5);
}

TEST_CASE("an ideal gas under gravity over a reflecting floor has the barometric density", "[md]") {
    Settings s = ideal_gas(10, 10);
    s.temperature = 1;
    s.thermostat = "langevin", s.thermostat_temperature = 1, s.thermostat_time = 0.7;
    s.step = 0.02, s.thermo = 50;
    s.outside.boundary = {"periodic", "periodic", "open"};
    s.outside.faces = {"zlo reflect"};
    s.outside.given_accelerations = {"all 0 0 -0.5"};
    const Running run(s);
    run.advance(1500);
    // Above height z there are exp(-m g z / k T) of all; the mean height is k T / m g = 2.
    double height = 0, above = 0, force = 0;
    constexpr int kSamples = 80;
    for (int sample = 0; sample < kSamples; ++sample) {
        run.advance(50);
        force += run.column("force on zlo") / kSamples;
        for (const auto& [id, x] : run.vectors(run.l.x)) {
            height += x[2] / (kSamples * 1000.0);
            above += x[2] > 3 ? 1 / (kSamples * 1000.0) : 0;
            if (sample == 0) CHECK(x[2] >= 0);
        }
    }
    // Some 30 independent states of 1000 atoms.
    CAPTURE(height, above, force);
    CHECK(std::abs(height - 2) < 0.06);
    CHECK(std::abs(above - std::exp(-1.5)) < 0.012);
    // The floor bears the weight, but for the noise on the sum of all momenta, a mean of 6 over 80 tau.
    CHECK(std::abs(force - 500) < 25);
    CHECK_FALSE(run.has("pressure"));
}

TEST_CASE("the force of an ideal gas on walls is its pressure times their area", "[md]") {
    Settings s = ideal_gas(10, 6);
    s.step = 0.01, s.thermo = 6000;
    s.outside.boundary = {"walls", "walls", "walls"};
    s.outside.faces = {"xlo reflect", "xhi reflect", "ylo reflect",
                       "yhi reflect", "zlo reflect", "zhi reflect"};
    const Running run(s);
    const double first = run.value(run.l.thermo.total);
    run.advance(6000);
    // Nothing takes momentum away, but the walls: all 3 N degrees of freedom count.
    CHECK(s.outside.kept_momenta() == 3);
    CHECK(run.s.outside.kept_momenta() == 0);
    CHECK(run.value(run.l.thermo.total) == Approx(first).epsilon(1e-12));
    double sum = 0;
    for (const char* face : Wall::kFaces) sum += run.column(fmt::format("force on {}", face)) / 36 / 6;
    const double pressure = 1000 * 1.5 / 216;
    CAPTURE(sum, pressure);
    CHECK(std::abs(sum / pressure - 1) < 0.01);
    CHECK(std::abs(run.value(run.l.thermo.pressure) / pressure - 1) < 1e-9);
    // Each wall bears the kinetic energy along its axis.
    const double along_z = run.value(run.l.thermo.tensor[2]) * 36;
    CHECK(std::abs(run.column("force on zhi") / along_z - 1) < 0.03);
}

TEST_CASE("atoms that are moved do work, and the conserved energy is without it", "[md]") {
    Settings s = liquid(5, {1, 2, 2});
    s.outside.names = {"piston"}, s.outside.members = {"piston: z > 6.6"};
    s.outside.given_moving = {"piston 0 0.3 -0.2"};
    s.outside.given_forces = {"all 0.1 0 0"};  // along a periodic direction: work, and no potential
    s.outside.series = {"piston"};
    const Running run(s);
    const double total = run.value(run.l.thermo.total), conserved = run.value(run.l.thermo.conserved);
    const auto before = run.vectors(run.l.x);
    run.advance(500);
    const double gained = run.value(run.l.thermo.total) - total;
    const double wrong = run.value(run.l.thermo.conserved) - conserved;
    CAPTURE(gained, wrong);
    CHECK(std::abs(gained) > 20);
    CHECK(std::abs(wrong) < 2e-3 * std::abs(gained));
    // A tau later, through the periodic border
    int moved = 0;
    for (const auto& [id, x] : run.vectors(run.l.x)) {
        if (!(before.at(id)[2] > 6.6)) continue;
        double d = x[1] - before.at(id)[1];
        d -= run.s.length[1] * std::nearbyint(d / run.s.length[1]);
        CHECK(std::abs(d - 0.3) < 1e-9);
        CHECK(std::abs(x[0] - before.at(id)[0]) < 1e-12);
        ++moved;
    }
    CHECK(moved == run.simulation->value(run.l.atoms) - run.simulation->value(run.l.mobile));
    CHECK(moved > 50);
}

TEST_CASE("what changes the motion of all atoms goes together with what acts from outside, or is refused",
          "[md]") {
    Settings s = liquid(4, {2, 1, 1});
    s.outside.given_accelerations = {"all 0 0 -0.1"};
    s.remove_drift = 10;
    CHECK(has(refused(s), "time.remove_drift"));
    s.remove_drift = 0;
    s.thermostat = "v-rescale", s.thermostat_temperature = 1, s.barostat = "c-rescale",
    s.compressibility = 0.1;
    CHECK(has(refused(s), "barostat.kind"));
    s.outside.given_accelerations = {}, s.outside.boundary = {"periodic", "periodic", "open"};
    CHECK(has(refused(s), "barostat.kind"));
    s.outside.boundary = {};
    CHECK(refused(s).empty());
    s = liquid(4, {2, 1, 1});
    s.method = "fire", s.outside.names = {"lid"}, s.outside.members = {"lid: z > 5"};
    s.outside.given_moving = {"lid 0 0 -1"};
    CHECK(has(refused(s), "outside.moving"));
    // A minimum with frozen atoms, under gravity over a wall
    s.outside.given_moving = {}, s.outside.frozen = {"lid"}, s.outside.members = {"lid: z > 7"};
    s.box = {6.8, 6.8, 9.5}, s.outside.boundary = {"periodic", "periodic", "open"};
    s.outside.faces = {"zlo lj93 1 1 2.5"}, s.outside.given_accelerations = {"all 0 0 -0.5"};
    s.outside.series = {"lid"}, s.least_force = 1e-4, s.steps = 4000;
    const Running run(s);
    const auto before = run.vectors(run.l.x);
    run.advance(1500);
    CHECK(run.value(run.l.thermo.largest_force) < 1e-2);
    CHECK(run.column("energy outside") != 0);
    // In balance the frozen atoms and the wall bear the weight.
    const auto mobile = static_cast<double>(run.simulation->value(run.l.mobile));
    CHECK(std::abs(run.column("force z on lid") + 0.5 * mobile - run.column("force on zlo")) < 0.05);
    for (const auto& [id, x] : run.vectors(run.l.x))
        if (before.at(id)[2] > 7) CHECK(x == before.at(id));
}

TEST_CASE("forces and kinetic energies of groups add up to those of all", "[md]") {
    Settings s = liquid(5, {2, 2, 1});
    s.outside.names = {"one", "other"};
    s.outside.members = {"one: id 0 to 200", "other: not group one"};
    s.outside.series = {"one", "other"};
    const Running run(s);
    run.advance(20);
    CHECK(run.column("kinetic energy of one") + run.column("kinetic energy of other") ==
          Approx(run.value(run.l.thermo.kinetic)).epsilon(1e-12));
    const double force = run.column("force y on one");
    CHECK(std::abs(force) > 1);
    CHECK(std::abs(force + run.column("force y on other")) < 1e-9);
    CHECK(run.value(run.l.thermo.momentum) < 1e-9);
    // What is only looked at changes nothing.
    Settings without = liquid(5, {2, 2, 1});
    const Running plain(without);
    plain.advance(20);
    CHECK(plain.vectors(plain.l.x) == run.vectors(run.l.x));
}

TEST_CASE("atoms leave an open box as far as they like, as in a plain loop over all pairs", "[md]") {
    Settings s = liquid(3, {2, 3, 2});
    s.temperature = 8;  // most of it evaporates
    s.outside.boundary = {"open", "open", "open"};
    const bool mixed = GENERATE(false, true);
    if (mixed) s.precision = "mixed";
    const Running run(s, 2);
    std::map<std::int64_t, Vector> x = run.vectors(run.l.x), v = run.vectors(run.l.v);  // half a step ahead
    constexpr int kSteps = 3000;
    run.advance(kSteps);
    const double rc = s.cutoff, slope = 24 / rc * (2 * std::pow(rc, -12) - std::pow(rc, -6));
    for (int step = 0; step < kSteps; ++step) {
        for (auto& [id, at] : x)
            for (std::size_t c = 0; c < 3; ++c) at[c] += s.step * v[id][c];
        for (auto i = x.begin(); i != x.end(); ++i)
            for (auto j = std::next(i); j != x.end(); ++j) {
                Vector d;
                double square = 0;
                for (std::size_t c = 0; c < 3; ++c) d[c] = i->second[c] - j->second[c], square += d[c] * d[c];
                if (square >= rc * rc) continue;
                const double six = 1 / (square * square * square), r = std::sqrt(square);
                const double pull = 24 * six * (2 * six - 1) / square - slope / r;
                for (std::size_t c = 0; c < 3; ++c)
                    v[i->first][c] += s.step * pull * d[c], v[j->first][c] -= s.step * pull * d[c];
            }
    }
    double apart = 0, farthest = 0;
    const auto now = run.vectors(run.l.x);
    REQUIRE(now.size() == 108);
    for (const auto& [id, at] : now)
        for (std::size_t c = 0; c < 3; ++c) {
            apart = std::max(apart, std::abs(at[c] - x[id][c]));
            farthest = std::max(farthest, std::abs(at[c]));
        }
    CAPTURE(apart, farthest);
    CHECK(farthest > 4 * run.s.length[0]);
    CHECK(apart < (mixed ? 0.05 : 1e-6));
    CHECK(std::abs(run.value(run.l.thermo.conserved) - run.value(run.l.thermo.first)) <
          1e-4 * run.value(run.l.thermo.kinetic));
    CHECK_FALSE(run.has("pressure xx"));
}

TEST_CASE("an atom that is far away does not make the forces on others coarser", "[md][pairs]") {
    const auto wrong = [](bool scattered) {
        Settings s = liquid(6, {1, 1, 1});
        complete(s, schema(s));
        std::array<std::vector<double>, 3> x, full, mixed;
        const Grid grid("box", s.grid());
        for (const Atom& atom : atoms_of(s, grid, 0))
            for (std::size_t c = 0; c < 3; ++c) x[c].push_back(atom.x[c] + 0.1 * atom.v[c]);
        for (std::size_t c = 0; c < 3; ++c) x[c].push_back(1e5);
        const auto n = static_cast<std::int64_t>(x[0].size());
        const Sight sight{{x[0].data(), x[1].data(), x[2].data()}, nullptr, n, n, scattered};
        Pairs pairs;
        pairs.build(sight, {}, 2.8);
        for (auto* forces : {&full, &mixed}) {
            for (auto& axis : *forces) axis.assign(x[0].size(), 0);
            double* const f[3] = {(*forces)[0].data(), (*forces)[1].data(), (*forces)[2].data()};
            pairs.forces(sight, s.potential(), forces == &full ? Precision::full : Precision::mixed, false,
                         f);
        }
        double most = 0, largest = 0;
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t i = 0; i < x[0].size(); ++i) {
                most = std::max(most, std::abs(full[c][i] - mixed[c][i]));
                largest = std::max(largest, std::abs(full[c][i]));
            }
        return most / largest;
    };
    CHECK(wrong(true) < 1e-5);
    CHECK(wrong(false) > 1e-4);
}

TEST_CASE("a box of a file is open where its pbc says so, and atoms may be beyond it", "[md][files]") {
    const TemporaryFolder folder;
    const std::string frame =
        "3\nLattice=\"9 0 0 0 9 0 0 0 6\" Properties=species:S:1:pos:R:3 pbc=\"T T F\"\n"
        "X 1 1 -4\nX 2.2 1 -4\nX 5 5 30\n";
    Settings s;
    s.file = folder.write("three.xyz", frame).string();
    s.temperature = 0, s.steps = 10, s.thermo = 1, s.patches = {2, 1, 2};
    const Running run(s);
    CHECK(run.s.outside.borders == std::array{Border::periodic, Border::periodic, Border::open});
    run.advance(10);
    CHECK(run.vectors(run.l.x).size() == 3);
    const double six = std::pow(1.2, -6);
    CHECK(run.value(run.l.thermo.first) == Approx(4 * six * (six - 1)).epsilon(1e-6));
    s.outside.boundary = {"periodic", "periodic", "periodic"};
    CHECK(has(refused(s), "says that z is not periodic"));
    s.outside.boundary = {"periodic", "open", "open"};
    CHECK(refused(s).empty());
}

TEST_CASE("a table of Lennard-Jones is Lennard-Jones, to the order of its points", "[md][table]") {
    const TemporaryFolder folder;
    std::string text = "# Lennard-Jones\n\nLJ\nN 4000 R 0.7 2.5\n\n";
    for (int k = 0; k < 4000; ++k) {
        const double r = 0.7 + 1.8 * k / 3999, six = std::pow(r, -6);
        text += fmt::format("{} {:.16g} {:.16g} {:.16g}\n", k + 1, r, 4 * six * (six - 1),
                            24 * six * (2 * six - 1) / r);
    }
    const std::string file = folder.write("lj.table", text).string();
    const auto energy = [&](const std::string& interpolation, std::int64_t points) {
        Settings s = liquid(5, {2, 1, 2});
        s.shift = "none";
        s.thermo = 1;
        if (points > 0) {
            s.form = "table", s.potential_file = file, s.sections = {"X X LJ"};
            s.interpolation = interpolation, s.points = points;
        }
        const Running run(s);
        run.advance(30);
        return run.value(run.l.thermo.potential);
    };
    const double exact = energy("", 0);
    const auto wrong = [&](const std::string& interpolation, std::int64_t points) {
        return std::abs(energy(interpolation, points) / exact - 1);
    };
    const double coarse = wrong("linear", 500), fine = wrong("linear", 1000);
    CAPTURE(coarse, fine);
    CHECK(coarse < 1e-2);
    CHECK(coarse / fine > 3);
    CHECK(coarse / fine < 5);
    const double spline = wrong("spline", 250), finer = wrong("spline", 500);
    CAPTURE(spline, finer);
    CHECK(spline < 1e-3);
    CHECK(spline / finer > 8);
    CHECK(wrong("spline", 4000) < 1e-8);
}

TEST_CASE("tables of several kinds are those of their pairs; what is missing is said", "[md][table]") {
    const TemporaryFolder folder;
    std::string text;
    const auto section = [&](const std::string& name, double epsilon, double sigma, double to) {
        text += fmt::format("{}\nN 3000 R {:.16g} {:.16g}\n\n", name, 0.7 * sigma, to);
        for (int k = 0; k < 3000; ++k) {
            const double r = 0.7 * sigma + (to - 0.7 * sigma) * k / 2999, six = std::pow(sigma / r, 6);
            text += fmt::format("{} {:.16g} {:.16g} {:.16g}\n", k + 1, r, 4 * epsilon * six * (six - 1),
                                24 * epsilon * six * (2 * six - 1) / r);
        }
        text += "\n";
    };
    section("LIKE", 1, 1, 2.5), section("BIG", 0.5, 1.1, 2.2), section("MIXED", 0.8, 1.05, 2.4);
    std::string frame = "512\nLattice=\"10 0 0 0 10 0 0 0 10\" Properties=species:S:1:pos:R:3\n";
    for (int k = 0; k < 512; ++k)
        frame += fmt::format("{} {} {} {}\n", k % 3 == 0 ? "B" : "A", 0.6 + 1.25 * (k % 8),
                             0.6 + 1.25 * (k / 8 % 8) + 0.01 * (k % 5), 0.6 + 1.25 * (k / 64));
    Settings s;
    s.file = folder.write("mixture.xyz", frame).string();
    s.names = {"A", "B"}, s.temperature = 1, s.precision = "double", s.steps = 40, s.thermo = 1,
    s.step = 0.002;
    s.patches = {2, 2, 1};
    Settings tabulated = s;
    s.explicit_pairs = {"A A 1 1 2.5", "B B 0.5 1.1 2.2", "A B 0.8 1.05 2.4"};
    tabulated.form = "table", tabulated.potential_file = folder.write("pairs.table", text).string();
    tabulated.sections = {"A A LIKE", "B A MIXED", "B B BIG"};
    const Running lj(s), table(tabulated);
    lj.advance(40), table.advance(40);
    CHECK(table.value(table.l.thermo.potential) == Approx(lj.value(lj.l.thermo.potential)).epsilon(1e-7));
    CHECK(table.value(table.l.thermo.pressure) == Approx(lj.value(lj.l.thermo.pressure)).epsilon(1e-5));
    tabulated.sections.pop_back();
    CHECK(has(refused(tabulated), "none for B and B"));
    tabulated.sections = {"A C LIKE"};
    CHECK(has(refused(tabulated), "pair.sections"));
    tabulated.sections = {"A A LIKE", "A B LIKE 2.0", "B B GONE"};
    CHECK(has(refused(tabulated), "no section of this name"));
}
