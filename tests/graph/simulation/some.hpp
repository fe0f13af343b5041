// A small graph for tests: tasks that run once, tasks on some patches, scalars of several numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// Heat on all patches; on those of the lower x side ("the rim") walls are made and pushed with, seen by the
/// patches beside; some patches share out to nodes. Clocks and factors are made once.
struct Some {
    Graph graph{"some"};
    Grid& grid;
    Field<double> u, wall, at_nodes, kept;
    Scalar<std::array<double, 3>> flux;
    Scalars<double> powers;
    Scalar<double> size, clock, quiet, turn;

    explicit Some(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          u(graph.field<double>("u", grid, On::cells, {.history = 1})),
          wall(graph.field<double>("wall", grid, On::cells)),
          at_nodes(graph.field<double>("at nodes", grid, On::nodes)),
          kept(graph.field<double>("kept", grid, On::cells)),
          flux(graph.scalar<std::array<double, 3>>("flux", Reduce::sum)),
          powers(graph.scalars<double>("powers", Reduce::sum, 3)),
          size(graph.scalar<double>("size", Reduce::max)),
          clock(graph.scalar<double>("clock", {.history = 1})),
          quiet(graph.scalar<double>("quiet")),
          turn(graph.scalar<double>("turn")) {
        start();
        heat();
        walls();
        shares();
        once();
        last();
    }
    [[nodiscard]] auto at_rim() const {
        return [&grid = grid](int patch) { return grid.box(patch).lo[0] == 0; };
    }
    void start() {
        Task task = graph.start().task("initial", grid);
        const auto first = task.make(u), k = task.make(kept);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k0) {
                here[first](i, j, k0) = Heat::first(i, j, k0);
                here[k](i, j, k0) = 0;
            });
        });
        Task begin = graph.start().once("begin");
        begin.run([t = begin.make(clock)](Here& here) { here[t] = 0.25; });
    }
    void heat() {
        Task task = graph.step().task("heat", grid);
        const auto old = task.need(u.previous(), ghosts(1));
        const auto now = task.make(u);
        const auto most = task.contribute(size);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const auto from = here[old];
                const auto at = [&](int a, int b) {
                    return from.box().contains(Int3{a, b, k}) ? from(a, b, k) : 0;
                };
                here[now](i, j, k) = 0.6 * from(i, j, k) + 0.1 * (at(i - 1, j) + at(i + 1, j) + at(i, j + 1));
                here[most] = std::max(here[most], std::abs(here[now](i, j, k)));
            });
        });
    }
    /// Walls are there on the rim alone; "push" changes u there, between versions that all patches read.
    void walls() {
        {
            Task task = graph.step().task("build", grid);
            const auto old = task.need(u.previous(), ghosts(1));
            const auto w = task.make(wall);
            const auto f = task.contribute(flux);
            const auto p = task.contribute(powers);
            task.on(at_rim()).run([=](Here& here) {
                here[p].resize(1 + here.step % 3);
                for_each(here.cells(), [&](int i, int j, int k) {
                    here[w](i, j, k) = here[old](i, j, k) + 0.01 * static_cast<double>(here.step);
                    for (int c = 0; c < 3; ++c)
                        here[f][static_cast<std::size_t>(c)] += 1e-3 * here[w](i, j, k) / (c + 1);
                    for (int n = 0; n < here[p].size(); ++n)
                        here[p][n] += std::pow(0.1 * here[w](i, j, k), n);
                });
            });
        }
        {
            Task task = graph.step().task("look", grid);  // reads the version that "push" takes
            const auto v = task.need(u, ghosts(1));
            const auto k = task.modify(kept);
            task.run([=](Here& here) {
                for_each(here.cells(), [&](int i, int j, int k0) {
                    const auto from = here[v];
                    here[k](i, j, k0) = 0.5 * here[k](i, j, k0) +
                                        (from.box().contains(Int3{i - 1, j, k0}) ? from(i - 1, j, k0) : 0.1);
                });
            });
        }
        Task task = graph.step().task("push", grid);
        const auto w = task.need(wall);
        const auto f = task.need(flux);
        const auto v = task.modify(u);
        task.on(at_rim()).run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[v](i, j, k) += 0.1 * here[w](i, j, k) + 1e-3 * here[f][static_cast<std::size_t>(k % 3)];
            });
        });
    }
    void shares() {
        Task task = graph.step().task("share out", grid);
        const auto v = task.need(u.at(1), ghosts(1));
        const auto n = task.sum(at_nodes, ghosts(1));
        task.on([](int patch) { return patch % 3 == 1; }).run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[n](i, j, k) += here[v](i, j, k);
                here[n](i + 1, j, k) += 0.3 * here[v](i, j, k);
            });
        });
    }
    /// A scalar that is reduced, and changed afterwards by tasks that wait for no patch.
    void once() {
        Task clocks = graph.step().once("clocks");
        clocks.run([before = clocks.need(clock.previous()), now = clocks.make(clock), f = clocks.need(flux),
                    p = clocks.need(powers), t = clocks.make(turn)](Here& here) {
            double sum = 0;
            for (const double each : here[p]) sum += each;
            here[now] = 0.5 * here[before] + 1e-6 * sum + here[f][2];
            here[t] = static_cast<double>(here.step % 3);
        });
        Scope& halves = graph.step().repeat<double>(
            "halves", quiet.at(0), [](double q) { return q < 1; }, 9);
        Task halve = halves.once("halve");
        halve.run([s = halve.modify(size), q = halve.make(quiet)](Here& here) {
            here[s] *= 0.5;
            here[q] = here[s];
        });
        Scope& third = graph.step().when<double>("every third", turn.at(0), [](double t) { return t == 1; });
        third.takes(u.at(1));
        Task jump = third.task("jump", grid);
        const auto v = jump.modify(u);
        jump.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[v](i, j, k) *= 0.75; });
        });
    }
    void last() {
        Task task = graph.step().task("last", grid);
        const auto w = task.need(wall, ghosts(1));
        const auto n = task.need(at_nodes);
        const auto s = task.need(size.at(1));
        const auto t = task.need(clock.at(0));
        const auto v = task.modify(u.at(2));
        task.accept_missing(w).run([=, rim = grid.box(0).hi[0]](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const bool beside = i - 1 >= 0 && i - 1 < rim;
                here[v](i, j, k) = 0.7 * here[v](i, j, k) + (beside ? 0.05 * here[w](i - 1, j, k) : 0) +
                                   0.02 * here[n](i, j, k) + 1e-3 * (here[s] + here[t]);
            });
        });
    }
};

}  // namespace strata::graph::testing
