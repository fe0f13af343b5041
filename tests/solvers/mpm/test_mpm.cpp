// The material point method: the same bits however the domain is divided, the conserved and exact quantities,
// the order of accuracy, materials, and how it fails.
#include <cmath>
#include <numbers>
#include <regex>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "methods/particles/shape.hpp"
#include "solvers/mpm/exact.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_runs.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

/// u = A sin(2 pi X) cos(pi c t) in a periodic bar of n cells.
Settings periodic_bar(std::int64_t n, double amplitude, const std::string& transfer) {
    Settings s;
    s.cells = {n, 1, 1}, s.patch_cells = {n / 2, 1, 1}, s.size = {1, 0.02, 0.02};
    s.walls = {wall("x", Wall::periodic)};
    s.shape = "quadratic", s.transfer_name = transfer, s.flip = 1;
    s.given_materials = {elastic(Law::neo_hookean, 1, 1e4, 0.3)};
    s.bodies = {box({0, 0, 0}, {1, 0.02, 0.02})}, s.per_cell = {2, 1, 1};
    s.problem = "periodic bar", s.amplitude = amplitude;
    s.end = 0.02, s.cfl = 0.2;
    return settled(s);
}

/// What ends a run with these settings; empty when nothing does.
std::string error_of(const Settings& s) {
    try {
        run(s);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

}  // namespace

TEST_CASE("colliding disks have the same bits on 1, 2, 4 and 12 patches, with six tasks and five") {
    const char* const methods[][2] = {{"linear", "flip"},    {"linear", "pic"},     {"linear", "apic"},
                                      {"quadratic", "flip"}, {"quadratic", "apic"}, {"gimp", "flip"},
                                      {"gimp", "apic"}};
    for (const auto& [shape, transfer] : methods) {
        INFO(shape << " " << transfer);
        const auto with = [&](std::vector<std::int64_t> patch) {
            Settings s = disks(std::move(patch), shape, transfer);
            s.end = 1;  // they meet at 0.6
            return s;
        };
        const Ended one = run(with({24, 24, 1}));
        CHECK(one.points.size() > 300);
        CHECK(one.strain > 0.005);  // they are in contact
        CHECK(same_bits(one, run(with({12, 24, 1}))));
        CHECK(same_bits(one, run(with({12, 12, 1}))));
        CHECK(same_bits(one, run(with({10, 7, 1}))));
        Settings fused = with({12, 12, 1});
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
    // 1.9 and 2.0; with 16 cells the order is not reached yet (docs/mpm.md).
    double before = run(periodic_bar(32, 1e-3, "flip")).error;
    for (const auto& [n, order] : {std::pair{64, 1.85}, {128, 1.95}}) {
        const double now = run(periodic_bar(n, 1e-3, "flip")).error;
        INFO(n << " cells: " << now);
        CHECK(std::log2(before / now) > order);
        before = now;
    }
    CHECK(before < 3.5e-4);
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
        for (std::size_t c = 0; c < 9; ++c) F[c] = broadcast(at[c]);
        return F;
    };
    for (const Material& m : all) {
        INFO("law " << static_cast<int>(m.law));
        for (const Lanes& s : m.stress(gradient(0)).kirchhoff) CHECK(std::abs(s[0]) < 1e-9 * m.modulus());
        CHECK(std::abs(m.stress(gradient(0)).energy[0]) < 1e-12 * m.modulus());
        const double eps = 1e-5;
        const Stress small = m.stress(gradient(eps));
        const double trace = 0.15 * eps;
        // Hooke's law for all six, and the energy of that: half of stress times strain.
        const double e[6] = {0.3, -0.4, 0.25, 0.125, 0.225, -0.15};  // xx, yy, zz, xy, yz, zx
        double energy = 0;
        for (std::size_t c = 0; c < 6; ++c) {
            const double hooke = (c < 3 ? m.lambda * trace : 0) + 2 * m.mu * e[c] * eps;
            CHECK(std::abs(small.kirchhoff[c][2] - hooke) < 1e-4 * m.modulus() * eps);
            energy += (c < 3 ? 0.5 : 1) * hooke * e[c] * eps;
        }
        CHECK(std::abs(small.energy[1] - energy) < 1e-4 * m.modulus() * eps * eps);
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
        const double is = strata::log(broadcast(x))[5], should = std::log(x);
        CHECK(std::abs(is - should) <=
              2 * std::numeric_limits<double>::epsilon() * std::max(std::abs(should), 1e-2));
    }
    CHECK(strata::log(broadcast(1))[0] == 0);
}

TEST_CASE("shape functions: sums are 1, linear fields are exact, GIMP is the mean of linear functions") {
    const graph::GridShape shape{
        .cells = {{0, 0, 0}, {4, 4, 4}}, .patch_cells = {4, 4, 4}, .spacing = {0.5, 1, 2}};
    const auto check = [&]<class Shape>(Shape, const Lattice& lattice) {
        for (double xi = 0.013; xi < 1; xi += 0.0911) {
            const double x[3] = {(1 + xi) * 0.5, 1 + xi, (1 + xi) * 2};
            const double* const at[3] = {&x[0], &x[1], &x[2]};
            Weights<Shape> w(lattice, {1, 1, 1}, at, 0, 1);
            for (std::size_t a = 0; a < 3; ++a) {
                double one = 0, none = 0, place = 0, slope = 0, affine = 0;
                for (int i = 0; i < Shape::kPoints; ++i) {
                    one += w.d[a].w[i][0], none += w.d[a].g[i][0];
                    place += w.d[a].w[i][0] * w.d[a].away[i][0], slope += w.d[a].g[i][0] * w.d[a].away[i][0];
                    CHECK(w.d[a].w[i][0] >= -1e-16);
                }
                CHECK(std::abs(one - 1) < 1e-14);
                CHECK(std::abs(none) < 1e-13);
                CHECK(std::abs(place) < 1e-14);
                CHECK(std::abs(slope - 1) < 1e-14);
                Shape::affine(w.d[a], lattice.per_h[a]);
                for (int i = 0; i < Shape::kPoints; ++i) affine += w.d[a].g[i][0] * w.d[a].away[i][0];
                CHECK(std::abs(affine - 1) < 1e-13);  // C of a linear velocity is its gradient
            }
        }
    };
    for (const std::int64_t per_cell : {1, 2, 3}) {
        const Lattice lattice(shape, {per_cell, per_cell, per_cell});
        check(Linear{}, lattice), check(Quadratic{}, lattice), check(Gimp{}, lattice);
        CHECK(lattice.reach[1] == 0.5 / static_cast<double>(per_cell));  // half of a particle, in cells
        // Means over the particle of 1 - |x - x_i| by many points, and the differences at its ends.
        const double l = lattice.reach[0];
        for (double xi = 0.02; xi < 1; xi += 0.17) {
            const Along<4> g = Gimp::along(broadcast(xi), 1, 1, l);
            for (int i = 0; i < 4; ++i) {
                const auto hat = [&](double x) { return std::max(0.0, 1 - std::abs(x - (i - 1))); };
                double mean = 0;
                const int n = 20000;
                for (int k = 0; k < n; ++k) mean += hat(xi - l + (k + 0.5) * 2 * l / n) / n;
                CHECK(std::abs(g.w[i][0] - mean) < 1e-7);
                CHECK(std::abs(g.g[i][0] - (hat(xi + l) - hat(xi - l)) / (2 * l)) < 1e-13);
            }
        }
    }
}

TEST_CASE("a manufactured motion has the velocity, stretch and body force that momentum asks for") {
    // Differences of fourth order of what exact_motion says and of Strata's own stress.
    const auto slope = [](const auto& f, double h) {
        return (8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h);
    };
    Settings cube = periodic_bar(8, 0.05, "flip");
    cube.problem = "cube", cube.size = {1, 1, 1}, cube.cells = {8, 8, 8}, cube.patch_cells = {8, 8, 8};
    cube.walls = {}, cube.bodies = {box({0, 0, 0}, {1, 1, 1})};
    for (const Settings& s : {settled(cube), periodic_bar(8, 0.05, "flip")}) {
        const Material& m = s.materials[0];
        const auto moved = [](Real3 X, std::size_t j, double by) {
            X[j] += by;
            return X;
        };
        // First Piola-Kirchhoff stress P = tau F^-T; F is diagonal.
        const auto piola = [&](const Real3& X, double t, std::size_t i) {
            const Real3 stretch = exact_motion(s, X, t).stretch;
            Tensor F{};
            for (std::size_t c = 0; c < 3; ++c) F[4 * c] = broadcast(stretch[c]);
            return m.stress(F).kirchhoff[i][0] / stretch[i];
        };
        const double h = 1e-3, step = 1e-6;  // m, s
        const double acceleration = s.amplitude * std::pow(std::numbers::pi * m.wave_speed(), 2);
        for (const Real3& X : {Real3{0.13, 0.41, 0.77}, Real3{0.62, 0.28, 0.35}, Real3{0.9, 0.55, 0.11}})
            for (const double t : {0.0, 0.0031, 0.0127})
                for (std::size_t i = 0; i < 3; ++i) {
                    INFO(s.problem << ", direction " << i << ", time " << t);
                    const Motion at = exact_motion(s, X, t);
                    CHECK(std::abs(at.stretch[i] - 1 -
                                   slope([&](double by) { return exact_motion(s, moved(X, i, by), t).u[i]; },
                                         h)) < 1e-8);
                    for (const std::size_t j : {(i + 1) % 3, (i + 2) % 3})  // F is diagonal
                        CHECK(exact_motion(s, moved(X, j, 0.05), t).u[i] == at.u[i]);
                    const auto u = [&](double by) { return exact_motion(s, X, t + by).u[i]; };
                    const auto v = [&](double by) { return exact_motion(s, X, t + by).v[i]; };
                    CHECK(std::abs(at.v[i] - slope(u, step)) < 1e-6 * s.amplitude * m.wave_speed());
                    const double force =
                        slope([&](double by) { return piola(moved(X, i, by), t, i); }, h) / m.density;
                    CHECK(std::abs(slope(v, step) - force - at.force[i]) < 1e-6 * acceleration);
                }
    }
}

TEST_CASE("an unstable step ends the run with task, patch, step and label") {
    Settings s = disks({12, 12, 1}, "linear", "flip");
    s.walls = {wall("x", Wall::periodic), wall("y", Wall::periodic)};  // no point can leave the domain
    s.cfl = 2;
    const std::regex place(
        "task '[^']+', patch [0-9]+ of 'grid', step [0-9]+: (energy grows|waves and points cross|'[^']+' is "
        "no number)");
    const std::string text = error_of(s);
    INFO(text);
    CHECK(std::regex_search(text, place));
    CHECK(std::regex_search(text, std::regex("time.cfl (= |\\(now )2")));
}

TEST_CASE("a point that is thrown out of the domain ends the run with its number, label, patch and step") {
    Settings s = disks({12, 12, 1}, "linear", "flip");
    s.gravity = {0, -1e7, 0};
    const std::regex place(
        "particle [0-9]+ of 'points', on patch [0-9]+ of 'grid', step [0-9]+: it is beyond a border");
    const std::string text = error_of(s);
    INFO(text);
    CHECK(std::regex_search(text, place));
}
