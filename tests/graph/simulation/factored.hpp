// A small graph for tests whose patches own objects: factors of matrices, an order of cells, a record.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// Something whose instances in this process are counted.
struct Counted {
    static inline std::atomic<int> alive{0};
    Counted() { ++alive; }
    Counted(Counted&&) noexcept { ++alive; }
    Counted& operator=(Counted&&) noexcept { return *this; }
    ~Counted() { --alive; }
};

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}
template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    return values;
}

/// LU factors of a tridiagonal matrix for each row of a patch along x: d on the diagonal, -1 beside.
struct Factors : Counted {
    std::vector<double> pivots;  // one for each cell, x fastest
};
/// The cells of a patch by ascending value.
struct Order : Counted {
    std::vector<int> cells;
};
/// Weights of the cells of a patch. Not packed: they are made again.
struct Weights : Counted {
    std::vector<double> of;
};
/// The heaviest cell, found from the weights; made again after them.
struct Heaviest : Counted {
    std::size_t cell = 0;
};
/// How often each rank of value was seen first in the patch: grows while the run goes on.
struct Record : Counted {
    std::map<std::int64_t, double> seen;
};

/// In each step u = A^-1 (u before, and a bit of the neighbours' u), with A of the cell coefficients that
/// change in every third step; then the largest values are damped, and what was done is recorded.
struct Factored {
    Graph graph{"factored"};
    Grid& grid;
    Field<double> u, d;
    Object<Factors> factors;
    Object<Order> order;
    Object<Record> record;
    Object<Weights> weights;
    Object<Heaviest> heaviest;
    Scalar<double> turn, scale, weight;

    explicit Factored(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          u(graph.field<double>("u", grid, On::cells, {.history = 1})),
          d(graph.field<double>("d", grid, On::cells)),
          factors(graph.object<Factors>(
              "factors", grid,
              {.bytes = [](const Factors& f) { return sizeof f + f.pivots.size() * sizeof(double); },
               .pack = [](const Factors& f) { return bytes_of(f.pivots); },
               .unpack =
                   [](std::span<const std::byte> from) {
                       Factors f;
                       f.pivots = values_of<double>(from);
                       return f;
                   }})),
          order(graph.object<Order>("order", grid)),
          record(graph.object<Record>("record", grid,
                                      {.pack =
                                           [](const Record& r) {
                                               return bytes_of(std::vector<std::pair<std::int64_t, double>>(
                                                   r.seen.begin(), r.seen.end()));
                                           },
                                       .unpack =
                                           [](std::span<const std::byte> from) {
                                               Record r;
                                               for (const auto& each :
                                                    values_of<std::pair<std::int64_t, double>>(from))
                                                   r.seen.insert(each);
                                               return r;
                                           }})),
          weights(graph.object<Weights>("weights", grid)),
          heaviest(graph.object<Heaviest>("heaviest", grid)),
          turn(graph.scalar<double>("turn")),
          scale(graph.scalar<double>("scale")),
          weight(graph.scalar<double>("weight", Reduce::sum)) {
        start();
        Task clock = graph.step().once("clock");
        clock.run([t = clock.make(turn)](Here& here) { here[t] = static_cast<double>(here.step % 3); });
        rebuild();
        solve();
        sort();
        damp();
    }

    static void factorise(Here& here, FieldUse<const double> d, ObjectUse<Factors> made) {
        std::vector<double>& pivots = here[made].pivots;
        pivots.clear();
        const Box box = here.cells();
        for_each(box, [&](int i, int j, int k) {
            const double diagonal = 2.5 + here[d](i, j, k);
            pivots.push_back(i == box.lo[0] ? diagonal : diagonal - 1 / pivots.back());
        });
    }
    void start() {
        Task first = graph.start().task("initial", grid);
        first.run([=, u = first.make(u), d = first.make(d), r = first.make(record)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[u](i, j, k) = Heat::first(i, j, k);
                here[d](i, j, k) = 1e-2 * (i + 2 * j + 3 * k);
            });
            here[r].seen = {{-here.patch, 0.5 * here.patch}};
        });
        Task factor = graph.start().task("factorise at the start", grid);
        factor.run([d = factor.need(d), f = factor.make(factors)](Here& here) { factorise(here, d, f); });
        Task begin = graph.start().once("begin");
        begin.run([s = begin.make(scale)](Here& here) { here[s] = 1; });
        weigh(graph.start(), "at the start", d.at(0), scale.at(0));
    }
    /// From what lies on the patch and around it, a scalar, and the step in which it is done.
    void weigh(Scope& scope, const std::string& when, TypedVersion<double, Kind::field> of,
               TypedVersion<double, Kind::scalar> by) {
        Task task = scope.task("weigh " + when, grid);
        task.run([d = task.need(of, ghosts(1)), s = task.need(by), w = task.make(weights),
                  sum = task.contribute(weight)](Here& here) {
            here[w].of.clear();
            const auto from = here[d];
            for_each(here.cells(), [&](int i, int j, int k) {
                const double beside = from.box().contains(Int3{i, j + 1, k}) ? from(i, j + 1, k) : 0.2;
                here[w].of.push_back(from(i, j, k) + 0.25 * beside + 0.01 * here[s] +
                                     1e-3 * static_cast<double>(here.step));
                here[sum] += here[w].of.back();
            });
        });
        Task find = scope.task("find the heaviest " + when, grid);
        find.run([w = find.need(weights), h = find.make(heaviest)](Here& here) {
            const std::vector<double>& all = here[w].of;
            here[h].cell = static_cast<std::size_t>(std::max_element(all.begin(), all.end()) - all.begin());
        });
    }
    void rebuild() {
        Scope& build = graph.step().when<double>("every third", turn, [](double t) { return t == 0; });
        Task change = build.task("change coefficients", grid);
        change.run([u = change.need(u.previous(), ghosts(1)), d = change.modify(d)](Here& here) {
            const auto from = here[u];
            for_each(here.cells(), [&](int i, int j, int k) {
                const double beside = from.box().contains(Int3{i, j - 1, k}) ? from(i, j - 1, k) : 0.1;
                here[d](i, j, k) = 0.5 * here[d](i, j, k) + 0.1 * std::abs(beside);
            });
        });
        Task lower = build.once("lower");
        lower.run([s = lower.modify(scale)](Here& here) { here[s] *= 0.9; });
        weigh(build, "anew", d.at(1), scale.at(1));
        Task factor = build.task("factorise", grid);
        factor.run(
            [d = factor.need(d.at(1)), f = factor.make(factors)](Here& here) { factorise(here, d, f); });
    }
    void solve() {
        Task task = graph.step().task("solve", grid);
        task.run([old = task.need(u.previous(), ghosts(1)), f = task.need(factors.at(1)),
                  now = task.make(u)](Here& here) {
            const auto from = here[old];
            const auto to = here[now];
            const Box box = here.cells();
            std::size_t at = 0;
            for_each(box, [&](int i, int j, int k) {
                const double below = from.box().contains(Int3{i, j, k - 1}) ? from(i, j, k - 1) : 0;
                to(i, j, k) = from(i, j, k) + 0.1 * below;
                if (i > box.lo[0]) to(i, j, k) += to(i - 1, j, k) / here[f].pivots[at - 1];
                ++at;
            });
            for_each(box, [&](int mirrored, int j, int k) {
                const int i = box.lo[0] + box.hi[0] - 1 - mirrored;
                const auto cell = static_cast<std::size_t>(
                    i - box.lo[0] + box.extent(0) * (j - box.lo[1] + box.extent(1) * (k - box.lo[2])));
                if (i + 1 < box.hi[0]) to(i, j, k) += to(i + 1, j, k);
                to(i, j, k) /= here[f].pivots[cell];
            });
        });
    }
    void sort() {
        Task task = graph.step().task("sort", grid);
        task.run([u = task.need(u), o = task.make(order)](Here& here) {
            std::vector<double> values;
            for_each(here.cells(), [&](int i, int j, int k) { values.push_back(here[u](i, j, k)); });
            std::vector<int>& cells = here[o].cells;
            cells.resize(values.size());
            for (std::size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<int>(i);
            std::stable_sort(cells.begin(), cells.end(), [&](int a, int b) {
                return values[static_cast<std::size_t>(a)] < values[static_cast<std::size_t>(b)];
            });
        });
    }
    void damp() {
        Task task = graph.step().task("damp", grid);
        task.run([o = task.need(order), r = task.modify(record), u = task.modify(u),
                  w = task.need(weights.at(1)), h = task.need(heaviest.at(1))](Here& here) {
            const std::vector<int>& cells = here[o].cells;
            std::vector<double> by(cells.size(), 1.1);
            for (std::size_t i = cells.size() / 2; i < cells.size(); ++i)
                by[static_cast<std::size_t>(cells[i])] = 0.9;
            double& times = here[r].seen[cells.front()];
            times += 0.25;
            std::size_t at = 0;
            by[here[h].cell] *= 1.05;
            for_each(here.cells(), [&](int i, int j, int k) {
                here[u](i, j, k) = by[at] * here[u](i, j, k) + 0.01 * here[w].of[at] + 1e-3 * times +
                                   0.01 * here[r].seen.begin()->second;
                ++at;
            });
        });
    }
};

}  // namespace strata::graph::testing
