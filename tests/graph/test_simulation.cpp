// Small graphs that run, against what a plain loop gives.
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

#include "core/graph/run/simulation.hpp"
#include "tests/catch.hpp"

using namespace strata::graph;

namespace {

/// Heat on a periodic or open grid: explicit, 7 points, with a sum and a maximum of each step.
struct Heat {
    Graph graph{"heat"};
    Grid& grid;
    Field<double> u;
    Scalar<double> total, largest;

    explicit Heat(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          u(graph.field<double>("u", grid, On::cells, {.history = 1})),
          total(graph.scalar<double>("total", Reduce::sum)),
          largest(graph.scalar<double>("largest", Reduce::max)) {
        {
            Task task = graph.start().task("initial", grid);
            const auto now = task.make(u);
            task.run([=](Here& here) {
                const Box& cells = here.cells();
                for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
                    for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                        for (int i = cells.lo[0]; i < cells.hi[0]; ++i) here[now](i, j, k) = first(i, j, k);
            });
        }
        Task task = graph.step().task("diffuse", grid);
        const auto old = task.need(u.previous(), ghosts(1));
        const auto now = task.make(u);
        const auto sum = task.contribute(total.at(0));
        const auto most = task.contribute(largest.at(0));
        task.run([=, this](Here& here) {
            const auto from = here[old];
            const auto to = here[now];
            const Box& cells = here.cells();
            double s = 0, m = -1e300;
            for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
                for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                    for (int i = cells.lo[0]; i < cells.hi[0]; ++i) {
                        const auto at = [&](int a, int b, int c) {
                            return from.box().contains(Int3{a, b, c}) ? from(a, b, c) : 0.0;
                        };
                        to(i, j, k) =
                            from(i, j, k) +
                            0.1 * (at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) + at(i, j + 1, k) +
                                   at(i, j, k - 1) + at(i, j, k + 1) - 6 * from(i, j, k));
                        s += to(i, j, k);
                        m = std::max(m, to(i, j, k));
                    }
            here[sum] += s;
            here[most] = m;
        });
    }
    static double first(int i, int j, int k) { return std::sin(0.7 * i) + std::cos(1.3 * j) * k; }

    /// The same by one loop over everything.
    static std::vector<double> plainly(const GridShape& shape, int steps) {
        const Int3 n{shape.cells.hi[0], shape.cells.hi[1], shape.cells.hi[2]};
        const auto index = [&](int i, int j, int k) { return i + n[0] * (j + n[1] * k); };
        std::vector<double> u(static_cast<std::size_t>(n[0] * n[1] * n[2])), next(u.size());
        for (int k = 0; k < n[2]; ++k)
            for (int j = 0; j < n[1]; ++j)
                for (int i = 0; i < n[0]; ++i) u[static_cast<std::size_t>(index(i, j, k))] = first(i, j, k);
        for (int step = 0; step < steps; ++step) {
            const auto at = [&](Int3 p) {
                for (std::size_t d = 0; d < 3; ++d) {
                    if (p[d] >= 0 && p[d] < n[d]) continue;
                    if (!shape.periodic[d]) return 0.0;
                    p[d] = (p[d] + n[d]) % n[d];
                }
                return u[static_cast<std::size_t>(index(p[0], p[1], p[2]))];
            };
            for (int k = 0; k < n[2]; ++k)
                for (int j = 0; j < n[1]; ++j)
                    for (int i = 0; i < n[0]; ++i)
                        next[static_cast<std::size_t>(index(i, j, k))] =
                            at({i, j, k}) + 0.1 * (at({i - 1, j, k}) + at({i + 1, j, k}) + at({i, j - 1, k}) +
                                                   at({i, j + 1, k}) + at({i, j, k - 1}) + at({i, j, k + 1}) -
                                                   6 * at({i, j, k}));
            std::swap(u, next);
        }
        return u;
    }

    void check(const Simulation& run, const std::vector<double>& expected) const {
        const Int3 n = grid.shape().cells.hi;
        for (const Kept& kept : kept_versions(run.plan())) {
            if (kept.label != u.id() || kept.back != 0) continue;
            const auto& mine = run.plan().memory().patches()[0];
            for (std::size_t p = 0; p < mine.size(); ++p) {
                const std::vector<std::byte> bytes = run.values(kept, static_cast<int>(p));
                const Box box = grid.box(mine[p]);
                std::size_t at = 0;
                for (int k = box.lo[2]; k < box.hi[2]; ++k)
                    for (int j = box.lo[1]; j < box.hi[1]; ++j)
                        for (int i = box.lo[0]; i < box.hi[0]; ++i, at += sizeof(double)) {
                            double value = 0;
                            std::memcpy(&value, bytes.data() + at, sizeof value);
                            const double is = expected[static_cast<std::size_t>(i + n[0] * (j + n[1] * k))];
                            if (value != is) {
                                CAPTURE(mine[p], i, j, k);
                                REQUIRE(value == is);
                            }
                        }
            }
        }
    }
};

const GridShape kOpen{.cells = {{0, 0, 0}, {13, 11, 9}}, .patch_cells = {4, 5, 3}};
const GridShape kRound{
    .cells = {{0, 0, 0}, {12, 11, 8}}, .patch_cells = {4, 5, 3}, .periodic = {true, true, true}};

}  // namespace

TEST_CASE("heat on patches is what one loop over all cells gives, bit for bit") {
    for (const GridShape& shape : {kOpen, kRound})
        for (const int threads : {1, 2, 3}) {
            Heat heat(shape);
            Simulation run(heat.graph, Members::alone(), {.threads = threads});
            run.start();
            CHECK(run.advance(20) == 20);
            heat.check(run, Heat::plainly(shape, 20));
            CHECK(run.advance(7) == 7);
            heat.check(run, Heat::plainly(shape, 27));
        }
}

TEST_CASE("a shuffled order and delays change no bit") {
    const std::vector<double> expected = Heat::plainly(kRound, 30);
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        Heat heat(kRound);
        Simulation run(heat.graph, Members::alone(), {.threads = 3, .shuffle = {.seed = seed}});
        run.start();
        run.advance(30);
        heat.check(run, expected);
    }
}

TEST_CASE("reductions give the same for any number of threads") {
    std::vector<double> totals;
    for (const int threads : {1, 2, 4}) {
        Heat heat(kOpen);
        Simulation run(heat.graph, Members::alone(), {.threads = threads});
        run.start();
        run.advance(5);
        totals.push_back(run.value(heat.total));
        CHECK(run.value(heat.largest) > 0);
    }
    CHECK(totals[0] == totals[1]);
    CHECK(totals[0] == totals[2]);
    CHECK(totals[0] != 0);
}

TEST_CASE("a run stops after the step whose reduction says so") {
    Heat heat(kOpen);
    Simulation run(heat.graph, Members::alone(), {.threads = 2});
    run.start();
    run.advance(4);
    const double limit = run.value(heat.largest);
    Heat again(kOpen);
    Simulation other(again.graph, Members::alone(), {.threads = 2});
    other.start();
    other.stop_when<double>(again.largest, [=](double largest) { return largest <= limit; });
    CHECK(other.advance(100) == 4);
    CHECK(other.stopped());
}
