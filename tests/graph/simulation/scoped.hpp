// Small graphs for tests of scopes: particles that are relocated in parts of a step, fields in scopes three
// deep, tasks of the team; each beside the plain loop that it stands for.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// A component of the n-th value of a view of particles.
template <class View>
auto& value(const View& view, std::int64_t n, int component) {
    return view.component(component)[static_cast<std::size_t>(n)];
}

/// Particles on a periodic grid. In every third step all jump, over several patches, and are relocated then;
/// in two steps of three they walk up to four rounds, each with a relocation; in between they stand still.
struct Walk {
    Graph graph{"walk"};
    Grid& grid;
    SetId set;
    Particles<std::int64_t> id;
    Particles<double> x, mark;
    Field<double> met;
    Scalar<double> turn, left;
    Scalar<std::int64_t> jumped, walked;

    explicit Walk(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          set(graph.particles("dust", grid)),
          id(graph.particle_id(set)),
          x(graph.particle<double>(set, "x", {.components = 3})),
          mark(graph.particle<double>(set, "mark")),
          met(graph.field<double>("met", grid, On::cells, {.history = 1})),
          turn(graph.scalar<double>("turn")),
          left(graph.scalar<double>("left")),
          jumped(graph.scalar<std::int64_t>("jumped", Reduce::sum)),
          walked(graph.scalar<std::int64_t>("walked", Reduce::sum)) {
        start();
        Task clock = graph.step().once("clock");
        clock.run([t = clock.make(turn), l = clock.make(left)](Here& here) {
            here[t] = static_cast<double>(here.step % 3);
            here[l] = static_cast<double>(1 + here.step % 4);
        });
        jump();
        walk();
        look();
    }

    struct Particle {
        std::int64_t id;
        std::array<double, 3> x;
        double mark;
    };
    [[nodiscard]] static Particle first(const Box& all, int i, int j, int k) {
        const std::int64_t number = i + std::int64_t{all.extent(0)} * (j + std::int64_t{all.extent(1)} * k);
        return {number, {i + 0.3, j + 0.6, k + 0.1}, 0.125 * static_cast<double>(number % 7)};
    }
    /// A different way for each particle and axis, of up to `far` cells; relocations bring it back into the
    /// domain.
    static void move(double& at, std::int64_t id, int axis, double far) {
        at += far * static_cast<double>((id * 37 + axis * 101) % 64 - 32) / 32;
    }
    static void change(double& mark, const std::array<double, 3>& at) {
        mark = 0.75 * mark + 0.01 * at[0] - 0.02 * at[1];
    }
    static constexpr double kJump = 9.0, kStride = 0.9;

    void start() {
        Task task = graph.start().task("sow", grid);
        const auto who = task.make(id);
        const auto at = task.make(x), m = task.make(mark);
        const auto old = task.make(met);
        task.run([=, this](Here& here) {
            here.create(set, here.cells().volume());
            std::int64_t n = 0;
            for_each(here.cells(), [&](int i, int j, int k) {
                const Particle p = first(grid.shape().cells, i, j, k);
                here[who][n] = p.id;
                for (int c = 0; c < 3; ++c) value(here[at], n, c) = p.x[static_cast<std::size_t>(c)];
                here[m][n++] = p.mark;
                here[old](i, j, k) = 0;
            });
        });
    }
    template <class Who, class At>
    static void moved(Here& here, Who who, At at, double far) {
        for (std::int64_t n = 0; n < here[who].size(); ++n)
            for (int c = 0; c < 3; ++c) move(value(here[at], n, c), here[who][n], c, far);
    }
    void jump() {
        Scope& third = graph.step().when<double>("every third", turn, [](double t) { return t == 0; });
        Task task = third.task("jump", grid);
        const auto who = task.need(id);
        const auto at = task.modify(x);
        const auto m = task.modify(mark);
        task.run([=](Here& here) {
            for (std::int64_t n = 0; n < here[who].size(); ++n)
                change(here[m][n], {value(here[at], n, 0), value(here[at], n, 1), value(here[at], n, 2)});
            moved(here, who, at, kJump);
        });
        third.relocate(set, x.last(), 0);
        Task count = third.task("count after jumps", grid);
        count.run([where = count.need(x.last()), n = count.contribute(jumped)](Here& here) {
            const Box box = here.cells();
            for (std::int64_t p = 0; p < here[where].size(); ++p)
                here[n] += box.contains(Int3{static_cast<int>(value(here[where], p, 0)),
                                             static_cast<int>(value(here[where], p, 1)),
                                             static_cast<int>(value(here[where], p, 2))});
        });
    }
    void walk() {
        Scope& some = graph.step().when<double>("two of three", turn, [](double t) { return t < 2; });
        some.takes(x.at(1)).takes(id.at(1)).takes(mark.at(1));
        Scope& rounds = some.repeat<double>(
            "walk", left.at(1), [](double l) { return l <= 0; }, 10);
        Task down = rounds.once("count down");
        down.run([l = down.modify(left)](Here& here) { here[l] -= 1; });
        Task task = rounds.task("stride", grid);
        const auto who = task.need(id);
        const auto at = task.modify(x);
        const auto m = task.modify(mark);
        task.run([=](Here& here) {
            moved(here, who, at, kStride);
            for (std::int64_t n = 0; n < here[who].size(); ++n)
                change(here[m][n], {value(here[at], n, 0), value(here[at], n, 1), value(here[at], n, 2)});
        });
        rounds.relocate(set, x.last());
        Task count = rounds.task("count after strides", grid);
        count.run([where = count.need(x.last()), n = count.contribute(walked)](Here& here) {
            here[n] = here[where].size();
        });
    }
    /// A sum over the particles in each cell, in their order.
    void look() {
        Task task = graph.step().task("look", grid);
        const auto at = task.need(x.last());
        const auto m = task.need(mark.last());
        const auto old = task.need(met.previous(), ghosts(1));
        const auto now = task.make(met);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                const auto from = here[old];
                here[now](i, j, k) = 0.5 * from(i, j, k) + 0.25 * from(i - 1, j, k);
            });
            for (std::int64_t n = 0; n < here[m].size(); ++n)
                here[now](static_cast<int>(value(here[at], n, 0)), static_cast<int>(value(here[at], n, 1)),
                          static_cast<int>(value(here[at], n, 2))) += here[m][n];
        });
    }

    /// All particles by number, and the sums of the cells, after so many steps.
    struct Plain {
        std::vector<Particle> particles;
        std::vector<double> met;
    };
    [[nodiscard]] static Plain plainly(const GridShape& shape, int steps) {
        const Box all = shape.cells;
        const Int3 n = all.hi;
        Plain now;
        for_each(all, [&](int i, int j, int k) { now.particles.push_back(first(all, i, j, k)); });
        now.met.assign(now.particles.size(), 0);
        const auto each = [&](double far, bool first) {
            for (Particle& p : now.particles) {
                if (first) change(p.mark, p.x);
                for (std::size_t c = 0; c < 3; ++c) move(p.x[c], p.id, static_cast<int>(c), far);
                if (!first) change(p.mark, p.x);
                for (std::size_t c = 0; c < 3; ++c) {
                    p.x[c] -= std::floor(p.x[c] / n[c]) * n[c];
                    if (p.x[c] == n[c]) p.x[c] = 0;  // rounded up
                }
            }
        };
        for (int step = 1; step <= steps; ++step) {
            if (step % 3 == 0) each(kJump, true);
            for (int round = 0; step % 3 < 2 && round < 1 + step % 4; ++round) each(kStride, false);
            std::vector<double> next(now.met.size());
            const auto cell = [&](int i, int j, int k) {
                return static_cast<std::size_t>((i + n[0]) % n[0] + n[0] * (j + n[1] * k));
            };
            for_each(all, [&](int i, int j, int k) {
                next[cell(i, j, k)] = 0.5 * now.met[cell(i, j, k)] + 0.25 * now.met[cell(i - 1, j, k)];
            });
            for (const Particle& p : now.particles)
                next[cell(static_cast<int>(p.x[0]), static_cast<int>(p.x[1]), static_cast<int>(p.x[2]))] +=
                    p.mark;
            now.met = next;
        }
        return now;
    }
};

/// A repetition in a condition in a subcycle: w is smoothed there, with ghosts and a history of its rounds,
/// and v is fed from it after each condition, whether it ran or not. Then tasks of the team count cells;
/// `meet` is called by each of them with its number.
struct Deep {
    Graph graph{"deep"};
    Grid& grid;
    Field<double> v, w;
    Scalar<double> tick, left, size;
    std::array<Scalar<std::int64_t>, 3> large;

    explicit Deep(
        const GridShape& shape, const std::function<void(int)>& meet = [](int) {})
        : grid(graph.grid("grid", shape)),
          v(graph.field<double>("v", grid, On::cells)),
          w(graph.field<double>("w", grid, On::cells, {.history = 1})),
          tick(graph.scalar<double>("tick")),
          left(graph.scalar<double>("left")),
          size(graph.scalar<double>("size", Reduce::max)) {
        Task first = graph.start().task("first", grid);
        first.run([v = first.make(v), w = first.make(w)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[v](i, j, k) = Heat::first(i, j, k);
                here[w](i, j, k) = 0.1 * i - 0.2 * j;
            });
        });
        Scope& thrice = graph.step().subcycle("thrice", 3);
        Task clock = thrice.once("clock");
        clock.run([t = clock.make(tick)](Here& here) { here[t] = ticks(here.step, here.round); });
        Scope& now = thrice.when<double>("now and then", tick, [](double t) { return t != 1; });
        Task begin = now.once("begin");
        begin.run([l = begin.make(left), t = begin.need(tick)](Here& here) { here[l] = 1 + here[t]; });
        Scope& rounds = now.repeat<double>(
            "rounds", left.at(1), [](double l) { return l <= 0; }, 9);
        Task down = rounds.once("down");
        down.run([l = down.modify(left)](Here& here) { here[l] -= 1; });
        Task smooth = rounds.task("smooth", grid);
        smooth.run([old = smooth.need(w.previous(), ghosts(1)), v = smooth.need(v, ghosts(1)),
                    now = smooth.make(w), most = smooth.contribute(size)](Here& here) {
            const auto from = here[old];
            const auto beside = here[v];
            for_each(here.cells(), [&](int i, int j, int k) {
                here[now](i, j, k) = smoothed(from(i, j, k), from(i - 1, j, k), beside(i, j + 1, k));
                here[most] = std::max(here[most], std::abs(here[now](i, j, k)));
            });
        });
        Task feed = thrice.task("feed", grid);
        feed.run([w = feed.need(w.at(1)), v = feed.modify(v), s = feed.need(size.at(1))](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) {
                here[v](i, j, k) = fed(here[v](i, j, k), here[w](i, j, k), here[s]);
            });
        });
        for (const int number : {0, 1, 2}) count(number, meet);
        Task use = graph.step().task("use", grid);
        std::array<ScalarUse<const std::int64_t>, 3> counts;
        for (std::size_t n = 0; n < 3; ++n) counts[n] = use.need(large[n]);
        use.run([v = use.modify(v.at(1)), counts](Here& here) {
            double all = 0;
            for (const auto& n : counts) all += static_cast<double>(here[n]);
            for_each(here.cells(), [&](int i, int j, int k) { here[v](i, j, k) += 1e-5 * all; });
        });
    }
    /// How many cells have more than so much, counted once in each process for all its patches.
    void count(int number, const std::function<void(int)>& meet) {
        const auto n = static_cast<std::size_t>(number);
        large[n] = graph.scalar<std::int64_t>("large " + std::to_string(number), Reduce::sum);
        Task task = graph.step().team_task("count " + std::to_string(number));
        task.run([v = task.need(v.at(1)), sum = task.contribute(large[n]), number, meet,
                  &grid = grid](Here& here) {
            meet(number);
            for (const Here& own : here.own(grid))
                for_each(own.cells(),
                         [&](int i, int j, int k) { here[sum] += own[v](i, j, k) > 0.2 * number; });
        });
    }
    [[nodiscard]] static double ticks(std::int64_t step, std::int64_t round) {
        return static_cast<double>((step + round) % 3);
    }
    [[nodiscard]] static double smoothed(double old, double below, double beside) {
        return 0.5 * old + 0.25 * below + 0.125 * beside;
    }
    [[nodiscard]] static double fed(double v, double w, double size) {
        return 0.75 * v + 0.125 * w + 1e-3 * size;
    }

    /// v and w on a periodic domain after so many steps.
    [[nodiscard]] static std::array<std::vector<double>, 2> plainly(const GridShape& shape, int steps) {
        const Int3 n = shape.cells.hi;
        const auto cell = [&](int i, int j, int k) {
            return static_cast<std::size_t>((i + n[0]) % n[0] + n[0] * (j % n[1] + n[1] * k));
        };
        std::vector<double> v(static_cast<std::size_t>(n[0] * n[1] * n[2])), w(v.size()), next(v.size());
        for_each(shape.cells, [&](int i, int j, int k) {
            v[cell(i, j, k)] = Heat::first(i, j, k);
            w[cell(i, j, k)] = 0.1 * i - 0.2 * j;
        });
        double size = 0;
        for (int step = 1; step <= steps; ++step) {
            for (int cycle = 0; cycle < 3; ++cycle) {
                const double tick = ticks(step, cycle);
                for (double left = 1 + tick; tick != 1 && left > 0; left -= 1) {
                    size = -1e300;
                    for_each(shape.cells, [&](int i, int j, int k) {
                        next[cell(i, j, k)] =
                            smoothed(w[cell(i, j, k)], w[cell(i - 1, j, k)], v[cell(i, j + 1, k)]);
                        size = std::max(size, std::abs(next[cell(i, j, k)]));
                    });
                    std::swap(w, next);
                }
                for (std::size_t c = 0; c < v.size(); ++c) v[c] = fed(v[c], w[c], size);
            }
            double all = 0;
            for (const int number : {0, 1, 2})
                for (const double each : v) all += each > 0.2 * number;
            for (double& each : v) each += 1e-5 * all;
        }
        return {v, w};
    }
};

/// A repetition in the start: u is smoothed over its neighbours until its sum of absolute values is small
/// enough; how many rounds that takes is not known before. Steps add to it.
struct Settled {
    Graph graph{"settled"};
    Grid& grid;
    Field<double> u, before;
    Scalar<double> size;
    static constexpr double kShare = 0.7;
    static constexpr int kMost = 60;

    explicit Settled(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          u(graph.field<double>("u", grid, On::cells)),
          before(graph.field<double>("before", grid, On::cells)),
          size(graph.scalar<double>("size", Reduce::sum)) {
        Task first = graph.start().task("first", grid);
        first.run([u = first.make(u)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[u](i, j, k) = Heat::first(i, j, k); });
        });
        const auto cells = static_cast<double>(shape.cells.volume());
        Scope& scope = graph.start().repeat<double>(
            "settle", size.at(0), [cells](double s) { return s < kShare * cells; }, kMost);
        scope.takes(u.at(0));
        Task copy = scope.task("copy", grid);
        copy.run([u = copy.need(u.at(0)), c = copy.make(before)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[c](i, j, k) = here[u](i, j, k); });
        });
        Task smooth = scope.task("smooth", grid);
        smooth.run([c = smooth.need(before, ghosts(1)), u = smooth.modify(u),
                    s = smooth.contribute(size)](Here& here) {
            const auto from = here[c];
            for_each(here.cells(), [&](int i, int j, int k) {
                here[u](i, j, k) = smoothed(from(i, j, k), from(i - 1, j, k), from(i, j + 1, k));
                here[s] += std::abs(here[u](i, j, k));
            });
        });
        Task add = graph.step().task("add", grid);
        add.run([u = add.modify(u)](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[u](i, j, k) += 1; });
        });
    }
    [[nodiscard]] static double smoothed(double own, double below, double beside) {
        return 0.5 * own + 0.25 * below + 0.25 * beside;
    }

    /// u on a periodic domain after so many steps, and the rounds that it took.
    [[nodiscard]] static std::pair<std::vector<double>, int> plainly(const GridShape& shape, int steps) {
        const Int3 n = shape.cells.hi;
        const auto cell = [&](int i, int j, int k) {
            return static_cast<std::size_t>((i + n[0]) % n[0] + n[0] * (j % n[1] + n[1] * k));
        };
        std::vector<double> u(static_cast<std::size_t>(n[0] * n[1] * n[2])), next(u.size());
        for_each(shape.cells, [&](int i, int j, int k) { u[cell(i, j, k)] = Heat::first(i, j, k); });
        int round = 0;
        for (double size = 1e300; round < kMost && size >= kShare * static_cast<double>(u.size()); ++round) {
            size = 0;
            for_each(shape.cells, [&](int i, int j, int k) {
                next[cell(i, j, k)] = smoothed(u[cell(i, j, k)], u[cell(i - 1, j, k)], u[cell(i, j + 1, k)]);
                size += std::abs(next[cell(i, j, k)]);
            });
            std::swap(u, next);
        }
        for (int step = 0; step < steps; ++step)
            for (double& each : u) each += 1;
        return {u, round};
    }
};

}  // namespace strata::graph::testing
