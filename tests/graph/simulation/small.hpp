// Small graphs for tests: heat, and one with some of everything that can be declared on a grid.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/graph/simulation/simulation.hpp"

namespace strata::graph::testing {

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
                for_each(here.cells(), [&](int i, int j, int k) { here[now](i, j, k) = first(i, j, k); });
            });
        }
        Task task = graph.step().task("diffuse", grid);
        const auto old = task.need(u.previous(), ghosts(1));
        const auto now = task.make(u);
        const auto sum = task.contribute(total.at(0));
        const auto most = task.contribute(largest.at(0));
        task.run([=](Here& here) {
            const auto from = here[old];
            const auto to = here[now];
            double s = 0, m = -1e300;
            for_each(here.cells(), [&](int i, int j, int k) {
                const auto at = [&](int a, int b, int c) {
                    return from.box().contains(Int3{a, b, c}) ? from(a, b, c) : 0.0;
                };
                to(i, j, k) = from(i, j, k) +
                              0.1 * (at(i - 1, j, k) + at(i + 1, j, k) + at(i, j - 1, k) + at(i, j + 1, k) +
                                     at(i, j, k - 1) + at(i, j, k + 1) - 6 * from(i, j, k));
                s += to(i, j, k);
                m = std::max(m, to(i, j, k));
            });
            here[sum] += s;
            here[most] = m;
        });
    }
    static double first(int i, int j, int k) { return std::sin(0.7 * i) + std::cos(1.3 * j) * k; }

    /// The same by one loop over everything.
    static std::vector<double> plainly(const GridShape& shape, int steps) {
        const Int3 n{shape.cells.hi[0], shape.cells.hi[1], shape.cells.hi[2]};
        const auto index = [&](int i, int j, int k) {
            return static_cast<std::size_t>(i + n[0] * (j + n[1] * k));
        };
        std::vector<double> u(static_cast<std::size_t>(n[0] * n[1] * n[2])), next(u.size());
        for_each(shape.cells, [&](int i, int j, int k) { u[index(i, j, k)] = first(i, j, k); });
        for (int step = 0; step < steps; ++step) {
            const auto at = [&](Int3 p) {
                for (std::size_t d = 0; d < 3; ++d) {
                    if (p[d] >= 0 && p[d] < n[d]) continue;
                    if (!shape.periodic[d]) return 0.0;
                    p[d] = (p[d] + n[d]) % n[d];
                }
                return u[index(p[0], p[1], p[2])];
            };
            for_each(shape.cells, [&](int i, int j, int k) {
                next[index(i, j, k)] =
                    at({i, j, k}) +
                    0.1 * (at({i - 1, j, k}) + at({i + 1, j, k}) + at({i, j - 1, k}) + at({i, j + 1, k}) +
                           at({i, j, k - 1}) + at({i, j, k + 1}) - 6 * at({i, j, k}));
            });
            std::swap(u, next);
        }
        return u;
    }
};

/// Masses on cells are shared out to nodes (a sum), smoothed there in a loop until they change little
/// (ghosts, changes in place, reductions), some rounds more every third step (a condition), then brought back
/// to cells in a subcycle that keeps its own history.
struct Mixed {
    Graph graph{"mixed"};
    Grid& grid;
    Field<double> mass, at_nodes, smooth, back;
    Scalar<double> change, turn;

    explicit Mixed(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          mass(graph.field<double>("mass", grid, On::cells, {.components = 2})),
          at_nodes(graph.field<double>("at nodes", grid, On::nodes)),
          smooth(graph.field<double>("smooth", grid, On::nodes)),
          back(graph.field<double>("back", grid, On::cells, {.history = 1})),
          change(graph.scalar<double>("change", Reduce::max, 1.0)),
          turn(graph.scalar<double>("turn", Reduce::max)) {
        start();
        scatter();
        smooth_in_loop();
        gather_back();
        change_masses();
    }

    void start() {
        Task task = graph.start().task("initial", grid);
        const auto m = task.make(mass), b = task.make(back);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[m](i, j, k, 0) = 1.0 / (1 + i + 2 * j + 3 * k);
                here[m](i, j, k, 1) = 1e-3 * i * j - k;
                here[b](i, j, k) = i - j;
            });
        });
    }
    void scatter() {
        Task task = graph.step().task("scatter", grid);
        const auto m = task.need(mass.at(0));
        const auto n = task.sum(at_nodes.at(0), ghosts(1));
        const auto t = task.contribute(turn.at(0));
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                for_each(Box{{0, 0, 0}, {2, 2, 2}}, [&](int a, int b, int c) {
                    if (here[n].box().contains(Int3{i + a, j + b, k + c}))
                        here[n](i + a, j + b, k + c) += here[m](i, j, k, 0) * (1 + a + 0.5 * b) + 0.1 * c;
                });
            });
            here[t] = static_cast<double>(here.step % 3);
        });
    }
    void smooth_in_loop() {
        {
            Task task = graph.step().task("take", grid);
            const auto n = task.need(at_nodes.at(0));
            const auto s = task.make(smooth);
            task.run([=](Here& here) {
                for_each(here.grid().owned(here.patch, On::nodes),
                         [&](int i, int j, int k) { here[s](i, j, k) = here[n](i, j, k); });
            });
        }
        Scope& loop = graph.step().repeat<double>(
            "until quiet", change.at(0), [](double largest) { return largest < 0.02; }, 20);
        const auto mean = graph.field<double>("mean", grid, On::nodes);
        {
            Task task = loop.task("average", grid);
            const auto s = task.need(smooth.at(0), ghosts(1));
            const auto a = task.make(mean);
            task.run([=](Here& here) {
                const auto from = here[s];
                for_each(here.grid().owned(here.patch, On::nodes), [&](int i, int j, int k) {
                    double sum = 0;
                    int count = 0;
                    for_each(Box{{i - 1, j - 1, k - 1}, {i + 2, j + 2, k + 2}}, [&](int x, int y, int z) {
                        if (from.box().contains(Int3{x, y, z})) sum += from(x, y, z), ++count;
                    });
                    here[a](i, j, k) = sum / count;
                });
            });
        }
        {
            Task task = loop.task("relax", grid);
            const auto a = task.need(mean);
            const auto s = task.modify(smooth.at(0));
            const auto c = task.contribute(change.at(0));
            task.run([=](Here& here) {
                double most = 0;
                for_each(here.grid().owned(here.patch, On::nodes), [&](int i, int j, int k) {
                    const double by = 0.3 * (here[a](i, j, k) - here[s](i, j, k));
                    here[s](i, j, k) += by;
                    most = std::max(most, std::abs(by));
                });
                here[c] = most;
            });
        }
        Scope& now_and_then =
            graph.step().when<double>("every third", turn.at(0), [](double t) { return t == 0; });
        now_and_then.takes(smooth.at(1));
        const auto beside = graph.field<double>("beside", grid, On::nodes);
        {
            Task task = now_and_then.task("look beside", grid);
            const auto s = task.need(smooth.at(0), ghosts({2, 0, 1}));
            const auto old = task.need(mass.at(0), ghosts(1));
            const auto b = task.make(beside);
            task.run([=](Here& here) {
                for_each(here.grid().owned(here.patch, On::nodes), [&](int i, int j, int k) {
                    const auto from = here[s];
                    const auto cells = here[old];
                    here[b](i, j, k) =
                        (from.box().contains(Int3{i + 2, j, k}) ? from(i + 2, j, k) : 0.0) +
                        (cells.box().contains(Int3{i - 1, j - 1, k}) ? cells(i - 1, j - 1, k) : 0.0);
                });
            });
        }
        Task task = now_and_then.task("add", grid);
        const auto b = task.need(beside);
        const auto s = task.modify(smooth.at(0));
        task.run([=](Here& here) {
            for_each(here.grid().owned(here.patch, On::nodes), [&](int i, int j, int k) {
                here[s](i, j, k) += 0.01 * static_cast<double>(here.step) + 1e-3 * here[b](i, j, k);
            });
        });
    }
    void gather_back() {
        Scope& cycle = graph.step().subcycle("twice", 2).takes(smooth.at(2));
        Task task = cycle.task("to cells", grid);
        const auto s = task.need(smooth, ghosts(1));
        const auto b = task.need(back.previous(), ghosts(2));
        const auto now = task.make(back);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const auto from = here[b];
                const double left = from.box().contains(Int3{i - 2, j, k}) ? from(i - 2, j, k) : 0;
                here[now](i, j, k) = 0.5 * from(i, j, k) + 0.2 * left + 0.1 * here[s](i, j, k) +
                                     0.01 * static_cast<double>(here.round);
            });
        });
    }
    void change_masses() {
        Task task = graph.step().task("change masses", grid);
        const auto m = task.modify(mass.at(0));
        const auto b = task.need(back.last());
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[m](i, j, k, 0) += 0.01 * here[b](i, j, k);
                here[m](i, j, k, 1) = -here[m](i, j, k, 1);
            });
        });
    }
};

inline const GridShape kOpen{.cells = {{0, 0, 0}, {14, 12, 9}}, .patch_cells = {4, 5, 3}};
inline const GridShape kRound{
    .cells = {{0, 0, 0}, {12, 12, 8}}, .patch_cells = {4, 5, 3}, .periodic = {true, true, true}};

}  // namespace strata::graph::testing
