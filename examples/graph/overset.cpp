// A turning grid over a fixed one. Where its cells lie is searched by requests in every second step; in each
// step values come along the lists that were found. A linear field is interpolated exactly.
//   strata launch --layout 2x1 -- overset
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/graph/declare/local_gather.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

constexpr int n = 24, m = 8;  // cells a side

struct Point {
    double x, y;
};

/// Where a cell's centre is: the grid turns around the middle of the fixed one before each search.
Point place(int i, int j, std::int64_t step) {
    const double x = i + 0.5 - m / 2, y = j + 0.5 - m / 2, turn = 0.1 * double((step + 1) / 2);
    return {n / 2 + x * std::cos(turn) - y * std::sin(turn), n / 2 + x * std::sin(turn) + y * std::cos(turn)};
}
double field(Point at, std::int64_t step) { return 3 * at.x - 2 * at.y + double(step); }

template <class Call>
void each(const Box& box, Call call) {
    for (int j = box.lo[1]; j < box.hi[1]; ++j)
        for (int i = box.lo[0]; i < box.hi[0]; ++i) call(i, j);
}

int run(strata::team::Team& team) {
    Graph graph("overset");
    Grid& fixed = graph.grid("fixed", {.cells = {{0, 0, 0}, {n, n, 1}}, .patch_cells = {6, 6, 1}});
    Grid& ring = graph.grid("turning", {.cells = {{0, 0, 0}, {m, m, 1}}, .patch_cells = {4, 4, 1}});
    const auto u = graph.field<double>("u", fixed, On::cells), v = graph.field<double>("v", ring, On::cells);
    const auto due = graph.scalar<double>("search is due");
    const auto error = graph.scalar<double>("error", Reduce::max);
    Requests<Point, int> search(graph, "search", ring, fixed, 16);
    LocalGather donors(graph, "donors", fixed, ring, 64);
    Task none = graph.start().task("no donors yet", ring);
    none.run([list = donors.set(none)](Here&) {});
    Task fill = graph.step().task("fill", fixed);
    fill.run([u = fill.make(u)](Here& here) {
        each(here.cells(), [&](int i, int j) { here[u](i, j) = field({i + 0.5, j + 0.5}, here.step); });
    });
    Task clock = graph.step().once("clock");
    clock.run([due = clock.make(due)](Here& here) { here[due] = double(here.step % 2); });
    Scope& moved = graph.step().when<double>("moved", due, [](double yes) { return yes > 0; });
    Task ask = moved.task("ask", ring);
    ask.run([asked = search.ask(ask)](Here& here) {
        each(here.cells(), [&](int i, int j) {
            const Point at = place(i, j, here.step);
            here[asked].add(int(at.y - 0.5) / 6 * 4 + int(at.x - 0.5) / 6, at);
        });
    });
    Task find = moved.task("find", fixed);
    find.run([requests = search.answer(find)](Here& here) {
        for (const auto& request : here[requests])  // the cell whose centre is below, to the left
            request.answer() = int(request.question().y - 0.5) * n + int(request.question().x - 0.5);
    });
    Task set = moved.task("set donors", ring);
    set.run([found = search.answers(set), list = donors.set(set)](Here& here) {
        for (const int cell : here[found])
            for (const int near : {cell, cell + 1, cell + n, cell + n + 1}) {
                const int i = near % n, j = near / n;
                here[list].add(j / 6 * 4 + i / 6, j % 6 * 6 + i % 6);
            }
    });
    const auto from_fixed = donors.gather(graph.step(), u);
    Task interpolate = graph.step().task("interpolate", ring);
    interpolate.run([values = from_fixed.need(interpolate), v = interpolate.make(v),
                     error = interpolate.contribute(error)](Here& here) {
        const double* value = here[values].data();
        each(here.cells(), [&](int i, int j) {
            const Point at = place(i, j, here.step);
            const double x = at.x - 0.5 - int(at.x - 0.5), y = at.y - 0.5 - int(at.y - 0.5);
            here[v](i, j) =
                (1 - y) * ((1 - x) * value[0] + x * value[1]) + y * ((1 - x) * value[2] + x * value[3]);
            here[error] = std::max(here[error], std::abs(here[v](i, j) - field(at, here.step)));
            value += 4;
        });
    });
    Simulation steps(graph, Members::of(team), {.crew = &team.crew()});
    steps.start();
    steps.advance(20);
    team.barrier();  // nobody frees its patches while others read them
    if (team.rank() == 0) std::printf("largest error %.17g\n", steps.value(error));
    return steps.value(error) < 1e-12 ? 0 : 1;
}

int main(int argc, char** argv) { return strata::team::run(argc, argv, run); }
