// Molecular dynamics on the task graph, beside a plain loop over all pairs; energy, momentum, random numbers.
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "core/graph/simulation/simulation.hpp"
#include "methods/particles/random.hpp"
#include "solvers/md/start.hpp"
#include "solvers/md/tasks.hpp"
#include "tests/catch.hpp"
#include "tests/graph/particles/particle_lines.hpp"

using namespace strata;
using namespace strata::md;
using namespace strata::particles;
using namespace strata::graph;

namespace {

Settings melt(std::vector<std::int64_t> patches, std::int64_t side = 4) {
    Settings s;
    s.cells = {side, side, side}, s.density = 0.8442, s.temperature = 1.44;
    s.patches = std::move(patches);
    s.precision = "double";
    s.steps = 40, s.thermo = 10;
    return s;
}

struct State {
    std::map<std::int64_t, std::array<double, 6>> atoms;  // id -> x, v half a step ahead
    double potential = 0, kinetic = 0, total = 0, first = 0, pressure = 0, momentum = 0, temperature = 0;
    std::int64_t rebuilds = 0;
};

State run(Settings s, int threads = 1) {
    complete(s, schema(s));
    Graph graph("md");
    const Labels l = declare(graph, s);
    Simulation simulation(graph, Members::alone(), {.threads = threads});
    simulation.start();
    simulation.advance(s.steps);
    State end;
    const Thermo& t = l.thermo;
    end.potential = simulation.value(t.potential), end.kinetic = simulation.value(t.kinetic);
    end.total = simulation.value(t.total), end.first = simulation.value(t.first);
    end.pressure = simulation.value(t.pressure), end.momentum = simulation.value(t.momentum);
    end.temperature = simulation.value(t.temperature), end.rebuilds = simulation.value(l.rebuilds);
    const int patches = static_cast<const Grid&>(*graph.families().front()).patches();
    for (int p = 0; p < patches; ++p) {
        const auto values = [&]<class T>(Particles<T> label) {
            std::vector<T> numbers;
            for (const Kept& kept : kept_versions(simulation.plan())) {
                if (kept.label != label.id() || kept.back != 0) continue;
                const std::vector<std::byte> bytes = simulation.values(kept, p);
                numbers.resize(bytes.size() / sizeof(T));
                if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
            }
            return numbers;
        };
        const auto ids = values(l.id);
        const auto x = values(l.x), v = values(l.v);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            auto& atom = end.atoms[ids[i]];
            for (std::size_t c = 0; c < 3; ++c)
                atom[c] = x[c * ids.size() + i], atom[3 + c] = v[c * ids.size() + i];
        }
    }
    return end;
}

/// The same by a loop over all pairs and the nearest images.
class Plain {
  public:
    explicit Plain(Settings s) : s_(std::move(s)) {
        complete(s_, schema(s_));
        Settings whole = s_;
        whole.counts = {1, 1, 1};
        const Grid grid("box", whole.grid());
        atoms_ = atoms_of(whole, grid, 0);
        Real3 mean{};
        const auto n = static_cast<double>(atoms_.size());
        for (const Atom& a : atoms_)
            for (std::size_t c = 0; c < 3; ++c) mean[c] += a.v[c] / n;
        double squares = 0;
        for (Atom& a : atoms_)
            for (std::size_t c = 0; c < 3; ++c) a.v[c] -= mean[c], squares += a.v[c] * a.v[c];
        for (Atom& a : atoms_)
            for (double& v : a.v) v *= std::sqrt(s_.temperature * (3 * n - 3) / squares);
    }
    State go() {
        force();
        State end;
        end.first = kinetic() + potential_;
        for (std::int64_t step = 1; step <= s_.steps; ++step) {
            push();
            for (Atom& a : atoms_)
                for (std::size_t c = 0; c < 3; ++c) a.x[c] += s_.step * a.v[c];
            force();
            push();
        }
        end.potential = potential_, end.kinetic = kinetic(), end.total = end.potential + end.kinetic;
        end.pressure = (2 * end.kinetic + virial_) / (3 * s_.volume());
        push();
        for (const Atom& a : atoms_) end.atoms[a.id] = {a.x[0], a.x[1], a.x[2], a.v[0], a.v[1], a.v[2]};
        return end;
    }
    [[nodiscard]] double length(std::size_t c) const { return s_.length[c]; }

  private:
    void push() {
        for (std::size_t i = 0; i < atoms_.size(); ++i)
            for (std::size_t c = 0; c < 3; ++c) atoms_[i].v[c] += s_.step / 2 * force_[i][c];
    }
    double kinetic() const {
        double sum = 0;
        for (const Atom& a : atoms_)
            for (const double v : a.v) sum += v * v / 2;
        return sum;
    }
    void force() {
        force_.assign(atoms_.size(), {});
        potential_ = virial_ = 0;
        const double at_cut =
            s_.shift == "none" ? 0 : 4 * (std::pow(s_.cutoff, -12) - std::pow(s_.cutoff, -6));
        for (std::size_t i = 0; i < atoms_.size(); ++i)
            for (std::size_t j = i + 1; j < atoms_.size(); ++j) {
                Real3 d{};
                double square = 0;
                for (std::size_t c = 0; c < 3; ++c) {
                    d[c] = atoms_[j].x[c] - atoms_[i].x[c];
                    d[c] -= length(c) * std::nearbyint(d[c] / length(c));
                    square += d[c] * d[c];
                }
                if (square >= s_.cutoff * s_.cutoff) continue;
                const double six = 1 / (square * square * square), pull = 24 * six * (2 * six - 1) / square;
                potential_ += 4 * six * (six - 1) - at_cut;
                virial_ += pull * square;
                for (std::size_t c = 0; c < 3; ++c) force_[i][c] -= pull * d[c], force_[j][c] += pull * d[c];
            }
    }
    Settings s_;
    std::vector<Atom> atoms_;
    std::vector<Real3> force_;
    double potential_ = 0, virial_ = 0;
};

double apart(const State& a, const State& b, const Plain& plain) {
    REQUIRE(a.atoms.size() == b.atoms.size());
    double most = 0;
    for (const auto& [id, one] : a.atoms) {
        const auto& other = b.atoms.at(id);
        for (std::size_t c = 0; c < 6; ++c) {
            double d = one[c] - other[c];
            if (c < 3) d -= plain.length(c) * std::nearbyint(d / plain.length(c));
            most = std::max(most, std::abs(d));
        }
    }
    return most;
}

}  // namespace

TEST_CASE("atoms move as by a plain loop over all pairs, on patches of any size", "[md]") {
    Settings s = melt({});
    s.shift = GENERATE("none", "energy");
    // On a whole lattice the first forces are 0; at the surface of a droplet they are not.
    s.sphere = GENERATE(0.0, 3.3);
    if (s.sphere > 0) s.box = {9, 8, 7};
    Plain plain(s);
    const State should = plain.go();
    // One patch sees its own images alone; some are narrower than the cutoff.
    for (const std::vector<std::int64_t>& patches :
         {std::vector<std::int64_t>{1, 1, 1}, {2, 2, 2}, {3, 1, 2}, {5, 4, 1}}) {
        s.patches = patches;
        CAPTURE(patches, s.shift);
        const State is = run(s, patches[0] > 1 ? 2 : 1);
        CHECK(is.rebuilds >= 2);
        CHECK(apart(is, should, plain) < 1e-9);
        CHECK(std::abs(is.potential - should.potential) < 1e-8);
        CHECK(std::abs(is.kinetic - should.kinetic) < 1e-8);
        CHECK(std::abs(is.pressure - should.pressure) < 1e-9);
        CHECK(std::abs(is.first - should.first) < 1e-8);
    }
}

TEST_CASE("lists that are pruned, or made anew in every few steps, give the same atoms", "[md]") {
    Settings s = melt({2, 2, 2});
    Plain plain(s);
    const State should = run(s);
    s.margin = 0;
    CHECK(apart(run(s), should, plain) == 0);
    s.margin = 0.25;
    CHECK(apart(run(s), should, plain) == 0);
    s.thermo = 7;  // nor do energies change atoms
    CHECK(apart(run(s), should, plain) == 0);
    s.every = 5, s.skin = 0.6;
    const State is = run(s);
    CHECK(is.rebuilds == 8);
    CHECK(apart(is, should, plain) < 1e-9);
}

TEST_CASE("mixed precision is near double precision", "[md]") {
    Settings s = melt({2, 2, 2});
    s.steps = 10;
    Plain plain(s);
    const State full = run(s);
    s.precision = "mixed";
    const State mixed = run(s);
    CHECK(apart(mixed, full, plain) < 1e-4);
    CHECK(std::abs(mixed.total - full.total) < 1e-5 * std::abs(full.total));
}

TEST_CASE("the energy's error is of second order in the time step; momentum stays 0", "[md]") {
    Settings s = melt({2, 2, 1});
    s.shift = "force", s.temperature = 1;
    const auto error = [&](double step) {
        s.step = step, s.steps = std::lround(0.4 / step);
        const State end = run(s);
        CHECK(end.momentum < 1e-10);
        return std::abs(end.total - end.first);
    };
    const double coarse = error(0.008), fine = error(0.004), finest = error(0.002);
    CAPTURE(coarse, fine, finest);
    CHECK(std::log2(coarse / fine) > 1.8);
    CHECK(std::log2(fine / finest) > 1.8);
    CHECK(finest < 1e-4 * 256);
}

TEST_CASE("patches that go to other processes between rebuilds leave all bits as they are", "[md][native]") {
    const std::string stay = tests::lines_of("1x1", {"0"});
    CHECK(stay.find("rebuilds 0") == std::string::npos);
    CHECK(tests::lines_of("2x1", {"3"}) == stay);
    CHECK(tests::lines_of("3x1", {"4"}) == stay);
}

TEST_CASE("the first energies and pressures are those that LAMMPS prints", "[md]") {
    Settings s = melt({1, 2, 1}, 10);
    s.steps = 1, s.step = 1e-9, s.thermo = 1;
    // examples/melt: 4000 atoms, T = 3. bench/in.lj: 32000 atoms, T = 1.44.
    s.temperature = 3;
    const State melt = run(s);
    CHECK(std::abs(melt.potential / 4000 + 6.7733681) < 6e-8);
    CHECK(std::abs(melt.pressure + 3.7033504) < 6e-8);
    s.cells = {20, 20, 20}, s.temperature = 1.44;
    const State bench = run(s);
    CHECK(std::abs(bench.total / 32000 + 4.6134356) < 6e-8);
    CHECK(std::abs(bench.pressure + 5.0197073) < 6e-8);
}

TEST_CASE("numbers of the gamma distribution have its mean and variance", "[md]") {
    for (const double shape : {1.0, 4.5, 160.0}) {
        double sum = 0, squares = 0;
        constexpr int kMany = 20'000;
        for (int i = 0; i < kMany; ++i) {
            const double each = gamma_number(shape, i, 7);
            sum += each, squares += each * each;
        }
        const double mean = sum / kMany;
        CHECK(std::abs(mean - shape) < 4 * std::sqrt(shape / kMany));
        CHECK(std::abs((squares / kMany - mean * mean) / shape - 1) < 4 * std::sqrt((2 + 6 / shape) / kMany));
    }
}

TEST_CASE("the first velocities have the temperature and no momentum, whatever the patches", "[md]") {
    Settings s = melt({2, 1, 1});
    s.steps = 1, s.step = 1e-9, s.thermo = 1;
    const State a = run(s);
    CHECK(std::abs(a.temperature - 1.44) < 1e-6);
    CHECK(a.momentum < 1e-11);
    s.patches = {1, 2, 3};
    Plain plain(s);
    CHECK(apart(run(s), a, plain) < 1e-12);
    s.seed = 2;
    CHECK(apart(run(s), a, plain) > 0.1);
}

TEST_CASE("each patch makes its own atoms of a lattice: together all of them, once", "[md]") {
    for (const char* lattice : {"fcc", "bcc", "sc"}) {
        Settings s = melt({3, 2, 5}, 7);
        s.lattice = lattice;
        complete(s, schema(s));
        const Grid grid("box", s.grid());
        std::set<std::int64_t> ids;
        double near = 1e9;
        std::vector<Atom> all;
        for (int p = 0; p < grid.patches(); ++p)
            for (const Atom& atom : atoms_of(s, grid, p)) {
                CHECK(ids.insert(atom.id).second);
                all.push_back(atom);
            }
        CHECK(ids.size() == static_cast<std::size_t>(343 * s.basis()));
        for (std::size_t i = 1; i < all.size(); ++i) {
            double square = 0;
            for (std::size_t c = 0; c < 3; ++c) square += std::pow(all[i].x[c] - all[0].x[c], 2);
            near = std::min(near, std::sqrt(square));
        }
        const double a = s.spacing();
        const double expected = s.basis() == 4 ? a / std::sqrt(2) : s.basis() == 2 ? a * std::sqrt(0.75) : a;
        CHECK(std::abs(near - expected) < 1e-9);
    }
}

TEST_CASE("random numbers are those of Philox 4x32-10", "[md]") {
    // Known answers of the authors' library Random123.
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == Four{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          Four{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
    double sum = 0, squares = 0, fourths = 0;
    constexpr int kMany = 40'000;
    for (int i = 0; i < kMany; ++i)
        for (const double each : normal(dice(i, 3, 1, 0)))
            sum += each, squares += each * each, fourths += std::pow(each, 4);
    // Standard errors of the normal distribution's moments, four times
    const double error = 1 / std::sqrt(4 * kMany);
    CHECK(std::abs(sum / (4 * kMany)) < 4 * error);
    CHECK(std::abs(squares / (4 * kMany) - 1) < 4 * std::sqrt(2) * error);
    CHECK(std::abs(fourths / (4 * kMany) - 3) < 4 * std::sqrt(96) * error);
}

TEST_CASE("what a box cannot hold is refused", "[md]") {
    const auto refused = [](Settings s) {
        try {
            complete(s, schema(s));
        } catch (const Error& error) {
            return error.text();
        }
        return std::string();
    };
    Settings s = melt({});
    CHECK(refused(s).empty());
    s.cutoff = 4;
    CHECK(refused(s).find("pair.cutoff") != std::string::npos);
    s = melt({2, 2});
    CHECK(refused(s).find("system.patches") != std::string::npos);
    s = melt({});
    s.long_range = true, s.shift = "energy";
    CHECK(refused(s).find("pair.long_range") != std::string::npos);
    s = melt({});
    const double edge = static_cast<double>(s.cells[0]) * s.spacing();
    s.box = {edge * (1 - 1e-14), edge, edge};  // the lattice's own, but for rounding
    CHECK(refused(s).empty());
    s.box[0] = 0.99 * edge;
    CHECK(refused(s).find("system.box") != std::string::npos);
}
