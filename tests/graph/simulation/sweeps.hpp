// A graph of tasks with orders of their own (Upwind) and frozen ghosts, and what loops over the whole grid
// give.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// Calls f(i, j, k) for a box, up (1) or down (-1) along each axis.
template <class F>
void for_each(const Box& box, const Int3& towards, F f) {
    const auto along = [&](std::size_t a, int n) {
        return towards[a] < 0 ? box.hi[a] - 1 - n : box.lo[a] + n;
    };
    for_each(Box{{0, 0, 0}, {box.extent(0), box.extent(1), box.extent(2)}},
             [&](int i, int j, int k) { f(along(0, i), along(1, j), along(2, k)); });
}

/// The kernels: on the views of a task, or on whole fields. Values that are not there count as 0.
struct SweepKernels {
    template <class V>
    static double at(const V& view, int i, int j, int k, int c = 0) {
        return view.box().contains(Int3{i, j, k}) ? static_cast<double>(view(i, j, k, c)) : 0.0;
    }
    /// Gauss-Seidel with seven points.
    template <class V>
    static void relax(const Box& cells, const Int3& towards, const V& u) {
        for_each(cells, towards, [&](int i, int j, int k) {
            u(i, j, k) =
                0.125 * (at(u, i - 1, j, k) + at(u, i + 1, j, k) + at(u, i, j - 1, k) + at(u, i, j + 1, k) +
                         at(u, i, j, k - 1) + at(u, i, j, k + 1) + 2 * u(i, j, k)) +
                0.01 * (i - j + k);
        });
    }
    /// In place, with ghosts all around that are as they were before.
    template <class V, class R>
    static void mix(const Box& cells, double by, const V& r, const R& from) {
        for_each(cells, [&](int i, int j, int k) {
            r(i, j, k) = 0.4 * r(i, j, k) +
                         by * (at(r, i - 1, j, k) + at(r, i + 1, j + 1, k) + at(r, i - 1, j - 1, k - 1) +
                               at(r, i, j, k + 1)) +
                         0.1 * at(from, i, j + 1, k);
        });
    }
    /// Elimination along x of -x[i-1] + 4 x[i] - x[i+1] = r[i]: c and the right side.
    template <class V, class B, class R>
    static void eliminate(const Box& cells, const V& c, const B& before, const R& r) {
        for_each(cells, [&](int i, int j, int k) {
            const double below = 1 / (4 - at(before, i - 1, j, k, 0));
            c(i, j, k, 0) = below;
            c(i, j, k, 1) = (r(i, j, k) + at(before, i - 1, j, k, 1)) * below;
        });
    }
    template <class V, class A, class C, class O>
    static void substitute(const Box& cells, const V& x, const A& above, const C& c, const O& old) {
        for_each(cells, {-1, 1, 1}, [&](int i, int j, int k) {
            x(i, j, k) = c(i, j, k, 1) + c(i, j, k, 0) * at(above, i + 1, j, k) + 0.1 * at(old, i, j - 1, k);
        });
    }
    /// Needs values between the axes, as an alignment does.
    template <class V, class R, class X>
    static void tabulate(const Box& cells, const V& h, const R& before, const X& x) {
        for_each(cells, {1, -1, 1}, [&](int i, int j, int k) {
            h(i, j, k) = 0.3 * at(before, i - 1, j, k) + 0.2 * at(before, i, j + 1, k) +
                         0.1 * at(before, i - 2, j + 2, k) + x(i, j, k);
        });
    }
    template <class V, class H, class W>
    static void feed(const Box& cells, const V& u, const H& h, const W& v) {
        for_each(cells, [&](int i, int j, int k) {
            u(i, j, k) = 0.5 * u(i, j, k) + 0.01 * h(i, j, k) + 0.1 * v(i, j, k);
        });
    }
    static double first(int i, int j, int k) { return std::sin(0.7 * i) + std::cos(1.3 * j) * k; }
};

struct Sweeps : SweepKernels {
    Graph graph{"sweeps"};
    Grid& grid;
    Field<double> u, r, x, v;

    /// Without boxes: patches as the shape says.
    explicit Sweeps(const GridShape& shape, const std::vector<Box>& boxes = {})
        : grid(boxes.empty() ? graph.grid("grid", shape) : graph.add<Grid>("grid", shape, boxes)),
          u(graph.field<double>("u", grid, On::cells)),
          r(graph.field<double>("r", grid, On::cells)),
          x(graph.field<double>("x", grid, On::cells, {.history = 1})),
          v(graph.field<double>("v", grid, On::cells)) {
        start();
        gauss_seidel();
        frozen();
        lines_and_table();
    }

    void start() {
        Task task = graph.start().task("initial", grid);
        const auto a = task.make(u), b = task.make(r), c = task.make(x), d = task.make(v);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[a](i, j, k) = here[c](i, j, k) = first(i, j, k);
                here[b](i, j, k) = here[d](i, j, k) = first(k, i, j);
            });
        });
        relaxing(graph.start(), "relaxed", u.at(0), {1, 0, -1});
    }
    void relaxing(Scope& scope, const std::string& name, const TypedVersion<double, Kind::field>& from,
                  const Int3& towards) {
        Task task = scope.task(name, grid);
        const auto now = task.modify(from, upwind(towards));
        task.run([=](Here& here) {
            const auto at_once = [&](std::size_t a) { return towards[a] != 0 ? towards[a] : 1; };
            relax_swept(here.cells(), {at_once(0), at_once(1), at_once(2)}, towards, here[now]);
        });
    }
    /// Along axes without an order there are no ghosts: their neighbours are left out, there and in the
    /// patch.
    template <class V>
    static void relax_swept(const Box& cells, const Int3& order, const Int3& towards, const V& u) {
        if (towards[0] != 0 && towards[1] != 0 && towards[2] != 0) return relax(cells, order, u);
        for_each(cells, order, [&](int i, int j, int k) {
            double sum = 2 * u(i, j, k);
            if (towards[0] != 0) sum += at(u, i - 1, j, k) + at(u, i + 1, j, k);
            if (towards[1] != 0) sum += at(u, i, j - 1, k) + at(u, i, j + 1, k);
            if (towards[2] != 0) sum += at(u, i, j, k - 1) + at(u, i, j, k + 1);
            u(i, j, k) = 0.15 * sum;
        });
    }
    void gauss_seidel() {
        relaxing(graph.step(), "forward", u.at(0), {1, 1, 1});
        relaxing(graph.step(), "back", u.at(1), {-1, -1, -1});
        relaxing(graph.step(), "slanted", u.at(2), {1, -1, 1});
        relaxing(graph.step().subcycle("rounds", 3), "alone in its loop", v.at(0), {0, 1, -1});
    }
    void frozen() {
        for (const int colour : {0, 1}) {
            Task task = graph.step().task(colour == 0 ? "red" : "black", grid);
            const auto now = task.modify(r.at(colour), ghosts(1));
            const auto from = task.need(u.at(3), ghosts(1));
            task.run([=](Here& here) { mix(here.cells(), 0.1 + 0.05 * colour, here[now], here[from]); });
        }
    }
    void lines_and_table() {
        const auto c = graph.field<double>("c", grid, On::cells, {.components = 2});
        const auto h = graph.field<double>("h", grid, On::cells);
        {
            Task task = graph.step().task("eliminate", grid);
            const auto now = task.make(c);
            const auto before = task.need(c, upwind(0, 1));
            const auto right = task.need(r.at(2));
            task.run([=](Here& here) { eliminate(here.cells(), here[now], here[before], here[right]); });
        }
        {
            Task task = graph.step().task("substitute", grid);
            const auto now = task.make(x);
            const auto above = task.need(x, upwind(0, -1));
            const auto eliminated = task.need(c);
            const auto old = task.need(x.previous(), ghosts({0, 1, 0}));
            task.run([=](Here& here) {
                substitute(here.cells(), here[now], here[above], here[eliminated], here[old]);
            });
        }
        {
            Task task = graph.step().task("tabulate", grid);
            const auto now = task.make(h);
            const auto before = task.need(h, upwind({1, -1, 0}, 2).with_corners());
            const auto from = task.need(x);
            task.run([=](Here& here) { tabulate(here.cells(), here[now], here[before], here[from]); });
        }
        Task task = graph.step().task("feed", grid);
        const auto now = task.modify(u.at(3));
        const auto table = task.need(h);
        const auto with = task.need(v.at(1));
        task.run([=](Here& here) { feed(here.cells(), here[now], here[table], here[with]); });
    }
    /// Values of a whole field. `others`: what is shown outside `own`.
    struct Whole {
        Box all;
        int components = 1;
        std::vector<double> values;
        Box own = all;
        const std::vector<double>* others = nullptr;

        explicit Whole(const Box& box, int count = 1)
            : all(box), components(count), values(static_cast<std::size_t>(box.volume() * count)) {}
        [[nodiscard]] Box box() const { return all; }
        [[nodiscard]] double& operator()(int i, int j, int k, int c = 0) const {
            const auto at = static_cast<std::size_t>(
                (i - all.lo[0]) +
                all.extent(0) * ((j - all.lo[1]) + all.extent(1) * ((k - all.lo[2]) + all.extent(2) * c)));
            const bool mine = others == nullptr || own.contains(Int3{i, j, k});
            return const_cast<double&>(mine ? values[at] : (*others)[at]);
        }
    };
    /// The same after so many steps by loops over everything: [label].
    [[nodiscard]] std::map<std::string, Whole> plainly(int steps) const {
        const Box all = grid.shape().cells;
        Whole u_(all), r_(all), x_(all), v_(all), old(all), c_(all, 2), h_(all);
        for_each(all, [&](int i, int j, int k) {
            u_(i, j, k) = x_(i, j, k) = first(i, j, k);
            r_(i, j, k) = v_(i, j, k) = first(k, i, j);
        });
        relax_swept(all, {1, 1, -1}, {1, 0, -1}, u_);
        for (int step = 0; step < steps; ++step) {
            relax(all, {1, 1, 1}, u_), relax(all, {-1, -1, -1}, u_), relax(all, {1, -1, 1}, u_);
            for (int round = 0; round < 3; ++round) relax_swept(all, {1, 1, -1}, {0, 1, -1}, v_);
            for (const int colour : {0, 1}) {
                const std::vector<double> before = r_.values;
                r_.others = &before;
                for (int p = 0; p < grid.patches(); ++p) {
                    r_.own = grid.box(p);
                    mix(r_.own, 0.1 + 0.05 * colour, r_, u_);
                }
                r_.others = nullptr;
            }
            old.values = x_.values;
            eliminate(all, c_, c_, r_);
            substitute(all, x_, x_, c_, old);
            tabulate(all, h_, h_, x_);
            feed(all, u_, h_, v_);
        }
        return {{"u", u_}, {"r", r_}, {"x", x_}, {"v", v_}};
    }
};

/// Boxes around one in the middle, cut at several heights: for orders of irregular patches.
inline std::vector<Box> pinwheel() {
    const std::vector<std::pair<Box, int>> towers{{{{0, 0, 0}, {9, 4, 9}}, 4},
                                                  {{{9, 0, 0}, {14, 8, 9}}, 3},
                                                  {{{5, 8, 0}, {14, 12, 9}}, 6},
                                                  {{{0, 4, 0}, {5, 12, 9}}, 5},
                                                  {{{5, 4, 0}, {9, 8, 9}}, 2}};
    std::vector<Box> boxes;
    for (const auto& [tower, height] : towers) {
        boxes.push_back(tower), boxes.back().hi[2] = height;
        boxes.push_back(tower), boxes.back().lo[2] = height;
    }
    return boxes;
}

}  // namespace strata::graph::testing
