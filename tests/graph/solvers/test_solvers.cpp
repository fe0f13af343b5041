// Solvers of different kinds on graphs: that each is right, and that it is the same in any layout.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <string>
#include <vector>

#include "tests/catch.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/solvers/fft.hpp"
#include "tests/graph/solvers/gradients.hpp"
#include "tests/graph/solvers/overset.hpp"
#include "tests/graph/solvers/refined.hpp"
#include "tests/team/run.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

std::vector<std::uint64_t> run_alone(const Comparison& of, int threads, std::uint64_t seed) {
    const auto solver = make_solver(of.name);
    Simulation run(solver->graph, Members::alone(), {.threads = threads, .shuffle = {.seed = seed}});
    run.start();
    run.advance(of.steps / 2);
    run.advance(of.steps - of.steps / 2);
    std::vector<std::uint64_t> all(patches_of(*solver));
    write_fingerprints(*solver, run, all);
    return all;
}

}  // namespace

TEST_CASE("solvers of any kind give the same bits with any number of threads, in any order") {
    for (const Comparison& of : comparisons()) {
        CAPTURE(of.name);
        const std::vector<std::uint64_t> expected = run_alone(of, 1, 0);
        CHECK(!expected.empty());
        for (const int threads : {2, 3}) CHECK(run_alone(of, threads, 0) == expected);
        for (std::uint64_t seed = 1; seed < 5; ++seed) CHECK(run_alone(of, 1 + seed % 3, seed) == expected);
    }
}

namespace {

std::string output_of(const std::string& layout, std::vector<std::string> words) {
    const bool fits = layout == "1x1" || layout == "2x1" || layout == "1x2";
    const auto done =
        strata::team::testing::Run(std::move(words), strata::team::testing::layout(layout, fits)).wait();
    INFO(layout << ": " << done.err);
    REQUIRE(done.status == 0);
    REQUIRE(strata::team::testing::has(done.out, "patch 0 "));
    return strata::graph::testing::sorted_lines(done.out);
}

}  // namespace

TEST_CASE("solvers of any kind give the same bits on any number of processes, wherever their patches are",
          "[native]") {
    for (const Comparison& of : comparisons()) {
        const std::string steps = std::to_string(of.steps);
        const std::string expected = output_of("1x1", {of.name, steps});
        for (const std::string layout : {"2x1", "1x2", "4x1", "3x2"}) {
            CAPTURE(of.name, layout);
            CHECK(output_of(layout, {of.name, steps}) == expected);
        }
        for (const std::string layout : {"2x1", "3x1"})
            for (const std::string seed : {"seed=1", "seed=2"}) {
                CAPTURE(of.name, layout, seed);
                CHECK(output_of(layout, {of.name, steps, seed, "move=3"}) == expected);
            }
    }
}

namespace {

/// The whole matrix M + dt K of a mesh, factorised (Cholesky), with M apart.
struct Direct {
    int n = 0;
    std::vector<int> number;  // [point] -> unknown, or -1
    std::vector<double> matrix, factor, mass;

    explicit Direct(const Gradients& g) : number(g.mesh.at.size(), -1) {
        for (std::size_t p = 0; p < number.size(); ++p)
            if (!g.mesh.fixed[p]) number[p] = n++;
        factor.resize(z(n) * z(n)), mass.resize(z(n));
        for (const Subdomain& sub : g.subdomains)
            for (std::size_t i = 0; i < sub.points.size(); ++i)
                for (int e = sub.matrix.first[i]; e < sub.matrix.first[i + 1]; ++e) {
                    const int row = number[z(sub.points[i])];
                    const int column = number[z(sub.points[z(sub.matrix.column[z(e)])])];
                    at(row, column) += sub.matrix.mass[z(e)] + Gradients::kStep * sub.matrix.stiffness[z(e)];
                    mass[z(row)] += sub.matrix.mass[z(e)];
                }
        matrix = factor;
        for (int j = 0; j < n; ++j) {
            for (int k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
            at(j, j) = std::sqrt(at(j, j));
            for (int i = j + 1; i < n; ++i) {
                for (int k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
                at(i, j) /= at(j, j);
            }
        }
    }
    /// How many rounds conjugate gradients take on the whole, from x on.
    int rounds(std::vector<double> x, const std::vector<double>& b) const {
        const auto dot = [](const auto& u, const auto& v) {
            return std::inner_product(u.begin(), u.end(), v.begin(), 0.0);
        };
        const auto times = [this](const std::vector<double>& v) {
            std::vector<double> product(v.size());
            for (std::size_t i = 0; i < v.size(); ++i)
                for (std::size_t j = 0; j < v.size(); ++j) product[i] += matrix[i * v.size() + j] * v[j];
            return product;
        };
        std::vector<double> r = times(x);
        for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
        std::vector<double> p = r;
        double rr = dot(r, r);
        for (int round = 0;; ++round) {
            if (rr <= Gradients::kTolerance * Gradients::kTolerance) return round;
            const std::vector<double> q = times(p);
            const double alpha = rr / dot(p, q);
            for (std::size_t i = 0; i < r.size(); ++i) x[i] += alpha * p[i], r[i] -= alpha * q[i];
            const double next = dot(r, r);
            for (std::size_t i = 0; i < r.size(); ++i) p[i] = r[i] + next / rr * p[i];
            rr = next;
        }
    }
    double& at(int i, int j) { return factor[z(i) * z(n) + z(j)]; }
    void solve(std::vector<double>& b) {
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < i; ++k) b[z(i)] -= at(i, k) * b[z(k)];
            b[z(i)] /= at(i, i);
        }
        for (int i = n - 1; i >= 0; --i) {
            for (int k = i + 1; k < n; ++k) b[z(i)] -= at(k, i) * b[z(k)];
            b[z(i)] /= at(i, i);
        }
    }
};

}  // namespace

TEST_CASE("conjugate gradients on irregular subdomains solve what a direct solver solves") {
    Gradients g;
    Direct direct(g);
    Simulation run(g.graph, Members::alone(), {.threads = 2});
    run.start();
    std::vector<double> expected(z(direct.n), 0.0);
    std::int64_t before = 0;
    for (int step = 1; step <= 4; ++step) {
        run.advance(1);
        const std::vector<double> begun = expected;
        for (std::size_t p = 0; p < direct.number.size(); ++p)
            if (const int i = direct.number[p]; i >= 0)
                expected[z(i)] =
                    direct.mass[z(i)] *
                    (expected[z(i)] +
                     Gradients::kStep * Gradients::source(g.mesh.at[p][0], g.mesh.at[p][1], step));
        const int plainly = direct.rounds(begun, expected);
        direct.solve(expected);
        double error = 0, largest = 0;
        for (std::size_t s = 0; s < g.subdomains.size(); ++s) {
            const std::vector<double> u = values_of<double>(run, g.u.id(), static_cast<int>(s));
            REQUIRE(u.size() == g.subdomains[s].points.size());
            for (std::size_t i = 0; i < u.size(); ++i) {
                const int unknown = direct.number[z(g.subdomains[s].points[i])];
                const double is = unknown < 0 ? 0 : expected[z(unknown)];
                error = std::max(error, std::abs(u[i] - is));
                largest = std::max(largest, std::abs(is));
            }
        }
        CHECK(largest > 0.3);
        CHECK(error < 1e-9 * largest);
        CHECK(run.value(g.residual) <= Gradients::kTolerance * Gradients::kTolerance);
        const std::int64_t rounds = values_of<std::int64_t>(run, g.rounds.id(), 0).at(0);
        CHECK(rounds - before > 20);
        CHECK(std::abs(rounds - before - plainly) <= 2);
        before = rounds;
    }
}

namespace {

std::vector<Complex> plain_transform(const std::vector<Complex>& u, const Int3& n) {
    const auto at = [&](int i, int j, int k) { return z(i + n[0] * (j + n[1] * k)); };
    std::vector<Complex> all(u.size());
    for (int c = 0; c < n[2]; ++c)
        for (int b = 0; b < n[1]; ++b)
            for (int a = 0; a < n[0]; ++a)
                for (int k = 0; k < n[2]; ++k)
                    for (int j = 0; j < n[1]; ++j)
                        for (int i = 0; i < n[0]; ++i) {
                            const double turns = static_cast<double>(a * i) / n[0] +
                                                 static_cast<double>(b * j) / n[1] +
                                                 static_cast<double>(c * k) / n[2];
                            all[at(a, b, c)] +=
                                u[at(i, j, k)] * std::polar(1.0, -2 * std::numbers::pi * turns);
                        }
    return all;
}

/// All values of a field on a grid, x fastest, in a run on one process.
std::vector<Complex> whole(const Simulation& run, const Grid& grid, LabelId label) {
    const Int3 n = grid.shape().cells.hi;
    std::vector<Complex> all(z(n[0] * n[1] * n[2]));
    for (int p = 0; p < grid.patches(); ++p) {
        const std::vector<Complex> part = values_of<Complex>(run, label, p);
        const Box box = grid.box(p);
        std::size_t at = 0;
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) all[z(i + n[0] * (j + n[1] * k))] = part.at(at++);
    }
    return all;
}

}  // namespace

TEST_CASE("transforms by transposes of pencils are what the plain sum gives, and damp each mode exactly") {
    Fft fft({8, 6, 7});
    const Int3 n = fft.n;
    // The spectrum itself, out of a task of the test's own.
    std::vector<Complex> spectrum(z(n[0] * n[1] * n[2]));
    {
        Task task = fft.graph.step().task("look", *fft.along_z);
        const auto from = task.need(fft.spectrum);
        task.run([&, from](Here& here) {
            const Box box = here.cells();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i)
                        spectrum[z(i + n[0] * (j + n[1] * k))] = here[from](i, j, k);
        });
    }
    std::vector<Complex> u;
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i) u.push_back(fft.first(i, j, k));
    const std::vector<Complex> modes = plain_transform(u, n);
    Simulation run(fft.graph, Members::alone(), {.threads = 2});
    run.start();
    const auto distance = [](const std::vector<Complex>& a, const std::vector<Complex>& b) {
        double most = 0;
        for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
        return most;
    };
    run.advance(1);
    CHECK(distance(spectrum, modes) < 1e-11);
    CHECK(std::abs(run.value(fft.modes) / run.value(fft.energy) - 1) < 1e-14);  // Parseval
    run.advance(4);
    std::vector<Complex> damped = modes;
    for (int k = 0; k < n[2]; ++k)
        for (int j = 0; j < n[1]; ++j)
            for (int i = 0; i < n[0]; ++i)
                damped[z(i + n[0] * (j + n[1] * k))] *= std::pow(fft.damping(i, j, k), 5);
    const std::vector<Complex> now = whole(run, *fft.along_x, fft.u.id());
    CHECK(distance(plain_transform(now, n), damped) < 1e-11);
    CHECK(distance(now, u) > 0.1);
}

TEST_CASE("forward and back gives back what there was") {
    Fft fft({12, 10, 9}, 0.0);
    Simulation run(fft.graph, Members::alone());
    run.start();
    const std::vector<Complex> first = whole(run, *fft.along_x, fft.u.id());
    run.advance(1);
    const std::vector<Complex> now = whole(run, *fft.along_x, fft.u.id());
    for (std::size_t i = 0; i < now.size(); ++i) {
        CAPTURE(i);
        REQUIRE(std::abs(now[i] - first[i]) < 1e-13);
    }
}

TEST_CASE("a refined region takes nothing from the sum and adds nothing, over 100 steps") {
    Refined refined;
    Simulation run(refined.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(1);
    const double first = run.value(refined.mass);
    run.advance(99);
    CHECK(std::abs(run.value(refined.mass) / first - 1) < 1e-14);

    // What would be lost if coarse cells kept their own fluxes.
    Refined leaking(32, false);
    Simulation other(leaking.graph, Members::alone());
    other.start();
    other.advance(1);
    const double begun = other.value(leaking.mass);
    other.advance(99);
    CHECK(std::abs(other.value(leaking.mass) / begun - 1) > 1e-7);
}

TEST_CASE("two levels with subcycling are of second order") {
    double errors[2], at_most[2];
    for (const int finer : {0, 1}) {
        Refined refined(32 << finer);
        Simulation run(refined.graph, Members::alone(), {.threads = 2});
        run.start();
        run.advance(40 << finer);
        errors[finer] = refined.error(run);
        at_most[finer] = refined.largest_error(run);
    }
    CHECK(errors[0] < 0.02);
    CHECK(errors[0] / errors[1] > 3.5);
    CHECK(at_most[0] / at_most[1] > 3);  // coarse values are interpolated in time, too
}

TEST_CASE("what comes through a rotating zone keeps its shape to second order") {
    double errors[2];
    for (const int finer : {0, 1}) {
        Overset overset(50 << finer);
        CHECK(overset.hole() > 40);
        for (const int step : {0, 7, overset.half_turn()}) CHECK(!overset.borrowed(step));
        Simulation run(overset.graph, Members::alone(), {.threads = 2});
        run.start();
        run.advance(overset.half_turn());
        errors[finer] = overset.error(run);
    }
    CHECK(errors[0] < 0.01);
    CHECK(errors[0] / errors[1] > 3.5);
}
