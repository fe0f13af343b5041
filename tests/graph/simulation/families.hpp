// A small graph for tests: families of many kinds and sizes that take values from each other.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// A sea of patches of unequal size, boats of one patch each that take values from the sea and give some
/// back, and gauges without a position on boats and sea.
struct Families {
    static constexpr std::array<int, 4> kSides{9, 3, 5, 2};  // of the boats, in cells
    Graph graph{"families"};
    Grid& sea;
    Field<double> u;
    std::vector<Grid*> boats;
    std::vector<Field<double>> v;
    Family& gauges;

    Families()
        : sea(graph.grid("sea", {.cells = {{0, 0, 0}, {13, 7, 1}}, .patch_cells = {4, 4, 1}})),
          u(graph.field<double>("u", sea, On::cells, {.history = 1})),
          gauges(graph.add<Family>("gauges", 3)) {
        for (std::size_t b = 0; b < kSides.size(); ++b) {
            const std::string name = "boat " + std::to_string(b);
            const int side = kSides[b];
            boats.push_back(
                &graph.grid(name, {.cells = {{0, 0, 0}, {side, side, 1}}, .patch_cells = {side, side, 1}}));
            v.push_back(graph.field<double>("v" + std::to_string(b), *boats[b], On::cells, {.history = 1}));
        }
        start(sea, u);
        for (std::size_t b = 0; b < boats.size(); ++b) {
            start(*boats[b], v[b]);
            sail(b);
        }
        flow();
        gauge();
    }

  private:
    void start(const Grid& grid, const Field<double>& field) {
        Task task = graph.start().task("initial " + grid.name(), grid);
        const auto now = task.make(field);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[now](i, j, k) = Heat::first(i, j, k); });
        });
    }
    /// A boat takes its first cells' values from the sea's patches.
    void sail(std::size_t b) {
        Gather::Table from(1);
        for (int n = 0; n < 2 * kSides[b]; ++n)
            from[0].push_back({static_cast<int>(b + static_cast<std::size_t>(n) % 3) % sea.patches(), n % 3});
        const auto& taken = graph.add<Gather>("under " + boats[b]->name(), sea, *boats[b], from);
        Task task = graph.step().task("sail " + boats[b]->name(), *boats[b]);
        const auto water = task.need(u.previous(), taken);
        const auto old = task.need(v[b].previous());
        const auto now = task.make(v[b]);
        task.work(100, 16);
        task.run([=, side = kSides[b]](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const std::int64_t n = (i + std::int64_t{side} * j) % here[water].size();
                here[now](i, j, k) = 0.75 * here[old](i, j, k) + 0.25 * here[water][n];
            });
        });
    }
    /// The sea goes on by itself; the largest boat's new values are added in patch 0.
    void flow() {
        Gather::Table from(static_cast<std::size_t>(sea.patches()));
        for (int n = 0; n < kSides[0]; ++n) from[0].push_back({0, n});
        const auto& waves = graph.add<Gather>("waves", *boats[0], sea, from);
        Task task = graph.step().task("flow", sea);
        const auto old = task.need(u.previous(), ghosts(1));
        const auto wave = task.need(v[0].at(0), waves);
        const auto now = task.make(u);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                double sum = here[old](i, j, k);
                for (const int d : {-1, 1}) {
                    if (here[old].box().contains(Int3{i + d, j, k})) sum += 0.1 * here[old](i + d, j, k);
                    if (here[old].box().contains(Int3{i, j + d, k})) sum += 0.1 * here[old](i, j + d, k);
                }
                const std::int64_t n = here[wave].size();
                here[now](i, j, k) = 0.7 * sum + (n > 0 ? 0.01 * here[wave][(i + j) % n] : 0);
            });
        });
    }
    /// A gauge has the mean of values of one patch of the sea and of one boat.
    void gauge() {
        const auto level = graph.list<double>("level", gauges, [](int) { return 1; }, {.kept = true});
        Gather::Table from(3);
        for (int g = 0; g < 3; ++g)
            for (int n = 0; n < 4; ++n) from[static_cast<std::size_t>(g)].push_back({2 * g, n});
        const auto& seen = graph.add<Gather>("seen", sea, gauges, from);
        Task task = graph.step().task("gauge", gauges);
        const auto water = task.need(u.at(0), seen);
        const auto now = task.make(level);
        task.run([=](Here& here) {
            here[now][0] = 0;
            for (std::int64_t n = 0; n < here[water].size(); ++n) here[now][0] += 0.25 * here[water][n];
        });
    }
};

}  // namespace strata::graph::testing
