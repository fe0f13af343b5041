// The material point method: the same bits however the domain is divided, the conserved and exact quantities,
// the order of accuracy, materials, and how it fails.
#include <cmath>
#include <cstring>
#include <map>
#include <numbers>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/run/simulation.hpp"
#include "solvers/mpm/tasks.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::mpm;

namespace {

Settings settled(Settings s) {
    complete(s, schema(s));
    return s;
}

/// Two elastic disks in a plane of `n` x `n` cells, about to meet.
Settings disks(std::vector<std::int64_t> patch, const std::string& shape, const std::string& transfer) {
    Settings s;
    s.cells = {24, 24, 1}, s.patch_cells = std::move(patch), s.size = {1.2, 1.2, 0.05};
    s.shape = shape, s.transfer_name = transfer;
    s.laws = {"linear", "neo-hookean"}, s.densities = {1000, 800}, s.young = {1000, 2000},
    s.poisson = {0.3, 0.4};
    s.shapes = {"cylinder 0.4 0.4 0 0.4 0.4 0.05 0.2", "cylinder 0.8 0.8 0 0.8 0.8 0.05 0.2"};
    s.body_materials = {0, 1};
    s.velocities = {0.1, 0.1, 0, -0.1, -0.1, 0};
    s.per_cell = {2, 2, 1};
    s.end = 1.5;
    return settled(s);
}

struct Ended {
    std::map<std::int64_t, std::vector<double>> points;  // id -> all that is kept of it
    double kinetic = 0, strain = 0, work = 0, first = 0, error = 0;
    std::array<double, 3> momentum{};
    std::int64_t steps = 0;
    double time = 0;
};

Ended run(const Settings& s, std::int64_t most = 1'000'000) {
    Graph graph("mpm");
    const Labels l = declare(graph, s);
    Simulation simulation(graph, Members::alone(), {.threads = 2});
    simulation.start();
    simulation.stop_when<double>(l.time, [&](double now) { return now >= s.end; });
    simulation.advance(most);
    Ended end;
    end.steps = simulation.step(), end.time = simulation.value(l.time);
    end.kinetic = simulation.value(l.kinetic), end.strain = simulation.value(l.strain);
    end.work = simulation.value(l.work), end.first = simulation.value(l.first_energy);
    end.momentum = {simulation.value(l.momentum_x), simulation.value(l.momentum_y),
                    simulation.value(l.momentum_z)};
    if (s.exact())
        end.error = std::sqrt(simulation.value(l.error) / simulation.value(l.total_mass)) / s.amplitude;
    const int patches = static_cast<const Grid&>(*graph.families().front()).patches();
    for (int p = 0; p < patches; ++p) {
        const auto values = [&](int label) {
            for (const Kept& kept : kept_versions(simulation.plan()))
                if (kept.label == label && kept.back == 0) return simulation.values(kept, p);
            return std::vector<std::byte>();
        };
        std::vector<std::byte> bytes = values(l.id.id());
        std::vector<std::int64_t> ids(bytes.size() / sizeof(std::int64_t));
        std::memcpy(ids.data(), bytes.data(), bytes.size());
        for (const int label : {l.x.id(), l.v.id(), l.F.id(), l.mass.id()}) {
            bytes = values(label);
            std::vector<double> numbers(bytes.size() / sizeof(double));
            std::memcpy(numbers.data(), bytes.data(), bytes.size());
            for (std::size_t i = 0; i < numbers.size(); ++i)
                end.points[ids[i % ids.size()]].push_back(numbers[i]);
        }
    }
    return end;
}

bool same_bits(const Ended& a, const Ended& b) {
    if (a.points.size() != b.points.size() || a.steps != b.steps) return false;
    for (const auto& [id, values] : a.points) {
        const auto other = b.points.find(id);
        if (other == b.points.end() || other->second.size() != values.size() ||
            std::memcmp(other->second.data(), values.data(), values.size() * sizeof(double)) != 0)
            return false;
    }
    return true;
}

/// u = A sin(2 pi X) cos(pi c t) in a periodic bar of n cells.
Settings periodic_bar(std::int64_t n, double amplitude, const std::string& transfer) {
    Settings s;
    s.cells = {n, 1, 1}, s.patch_cells = {n / 2, 1, 1}, s.size = {1, 0.02, 0.02};
    s.walls = {"periodic", "symmetry", "symmetry"};
    s.shape = "quadratic", s.transfer_name = transfer, s.flip = 1;
    s.laws = {"neo-hookean"}, s.densities = {1}, s.young = {1e4}, s.poisson = {0.3};
    s.shapes = {"box 0 0 0 1 0.02 0.02"}, s.per_cell = {2, 1, 1};
    s.problem = "periodic bar", s.amplitude = amplitude;
    s.end = 0.02, s.cfl = 0.2;
    return settled(s);
}

}  // namespace

TEST_CASE("colliding disks have the same bits on 1, 2, 4 and 12 patches, with six tasks and five") {
    const char* const methods[][2] = {
        {"linear", "flip"}, {"linear", "pic"}, {"quadratic", "flip"}, {"quadratic", "apic"}};
    for (const auto& [shape, transfer] : methods) {
        INFO(shape << " " << transfer);
        const Ended one = run(disks({24, 24, 1}, shape, transfer));
        CHECK(one.points.size() > 300);
        CHECK(one.strain > 0.005);  // they are in contact
        CHECK(same_bits(one, run(disks({12, 24, 1}, shape, transfer))));
        CHECK(same_bits(one, run(disks({12, 12, 1}, shape, transfer))));
        CHECK(same_bits(one, run(disks({10, 7, 1}, shape, transfer))));
        Settings fused = disks({12, 12, 1}, shape, transfer);
        fused.fused = true;
        CHECK(same_bits(one, run(fused)));
    }
}

TEST_CASE("colliding disks keep momentum to rounding, and nearly all energy") {
    Settings s = disks({12, 12, 1}, "quadratic", "flip");
    s.flip = 1;
    const Ended start = run(s, 1), end = run(s);
    const double size = 0.1 * 1000 * 0.1257 * 0.05;  // of one disk's momentum
    for (std::size_t c = 0; c < 3; ++c) CHECK(std::abs(end.momentum[c] - start.momentum[c]) < 1e-12 * size);
    CHECK(std::abs(end.kinetic + end.strain - start.kinetic) < 0.05 * start.kinetic);
}

TEST_CASE("a manufactured oscillation converges with second order") {
    double before = run(periodic_bar(16, 1e-3, "flip")).error;
    for (const std::int64_t n : {32, 64}) {
        const double now = run(periodic_bar(n, 1e-3, "flip")).error;
        INFO(n << " cells: " << now);
        CHECK(std::log2(before / now) > 1.4);
        before = now;
    }
    CHECK(before < 2e-3);
}

TEST_CASE(
    "materials: no stress undeformed, Hooke's law for small strains, stress as the energy's derivative") {
    const Material all[] = {Material::elastic(Law::neo_hookean, 1, 1e4, 0.3),
                            Material::elastic(Law::linear, 1, 1e4, 0.3),
                            Material::mooney_rivlin(1, 1e5, 2e4, 0.45)};
    const auto gradient = [](double eps) {
        const double at[9] = {1 + 0.3 * eps, 0.2 * eps,  -0.1 * eps, 0.05 * eps,    1 - 0.4 * eps,
                              0.3 * eps,     -0.2 * eps, 0.15 * eps, 1 + 0.25 * eps};
        Tensor F;
        for (std::size_t c = 0; c < 9; ++c) F[c] = mpm::all(at[c]);
        return F;
    };
    for (const Material& m : all) {
        INFO("law " << static_cast<int>(m.law));
        for (const Lanes& s : m.stress(gradient(0)).kirchhoff) CHECK(std::abs(s[0]) < 1e-9 * m.modulus());
        CHECK(std::abs(m.stress(gradient(0)).energy[0]) < 1e-12 * m.modulus());
        const double eps = 1e-5;
        const Stress small = m.stress(gradient(eps));
        const double trace = 0.15 * eps;
        CHECK(std::abs(small.kirchhoff[0][3] - (m.lambda * trace + 2 * m.mu * 0.3 * eps)) <
              1e-4 * m.modulus() * eps);
        CHECK(std::abs(small.kirchhoff[3][3] - m.mu * 0.25 * eps) < 1e-4 * m.modulus() * eps);
        if (m.law == Law::linear) continue;
        // tau = dW/dF F^T, by central differences.
        const Tensor F = gradient(1);
        const Stress s = m.stress(F);
        constexpr std::size_t kAt[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) {
                double tau = 0;
                for (std::size_t k = 0; k < 3; ++k) {
                    Tensor up = F, down = F;
                    up[3 * i + k] += 1e-6, down[3 * i + k] -= 1e-6;
                    tau += (m.stress(up).energy[0] - m.stress(down).energy[0]) / 2e-6 * F[3 * j + k][0];
                }
                CHECK(std::abs(s.kirchhoff[kAt[i][j]][0] - tau) < 1e-6 * m.modulus());
            }
    }
}

TEST_CASE("the logarithm of eight numbers is that of the library to two units in the last place") {
    for (double x = 1e-300; x < 1e300; x *= 1.37) {
        const double is = log(mpm::all(x))[5], should = std::log(x);
        CHECK(std::abs(is - should) <=
              2 * std::numeric_limits<double>::epsilon() * std::max(std::abs(should), 1e-2));
    }
    CHECK(log(mpm::all(1))[0] == 0);
}

TEST_CASE("an unstable step ends the run with task, patch, step and label") {
    Settings s = disks({12, 12, 1}, "linear", "flip");
    s.cfl = 2;
    s.gravity = {0, -1e7, 0};
    try {
        run(s);
        FAIL("it ended");
    } catch (const Error& error) {
        const std::string text = error.what();
        INFO(text);
        CHECK(text.find("step ") != std::string::npos);
        CHECK(text.find("patch ") != std::string::npos);
    }
}
