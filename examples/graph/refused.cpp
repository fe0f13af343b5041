// Mistakes in declarations: five graphs that cannot be, and what Strata says of each before the first step.
//   ./refused
#include <cstdio>

#include "core/base/error.hpp"
#include "core/graph/resolve/resolved.hpp"

using namespace strata::graph;

/// 16 cells in patches of 4, with two labels; tasks that do nothing.
struct Bar {
    Graph graph{"bar"};
    Grid& line = graph.grid("line", {.cells = {{0, 0, 0}, {16, 1, 1}}, .patch_cells = {4, 1, 1}});
    Field<double> u = graph.field<double>("u", line, On::cells, {.history = 1});
    Field<double> v = graph.field<double>("v", line, On::cells);

    Task task(Scope& scope, const char* name) {
        Task task = scope.task(name, line);
        task.run([](Here&) {});
        return task;
    }
    Task start(const char* name) { return task(graph.start(), name); }
    Task step(const char* name) { return task(graph.step(), name); }
};

/// 0 where the graph is refused, as it should be.
template <class Declare>
int refused(Declare declare) {
    Bar bar;
    declare(bar);
    try {
        (void)resolve(bar.graph);
    } catch (const strata::Error& error) {
        std::printf("%s\n", error.text().c_str());
        return 0;
    }
    return 1;
}

int main() {
    const auto no_start = [](Bar& bar) {
        Task diffuse = bar.step("diffuse");
        diffuse.need(bar.u.previous()), diffuse.make(bar.u);
    };
    const auto two_makers = [](Bar& bar) { bar.step("left").make(bar.v), bar.step("right").make(bar.v); };
    const auto circle = [](Bar& bar) {
        Task force = bar.step("force"), move = bar.step("move");
        force.need(bar.u), force.make(bar.v), move.need(bar.v), move.make(bar.u);
    };
    const auto wide = [](Bar& bar) {
        bar.start("begin").make(bar.u);
        bar.step("smooth").need(bar.u, ghosts(2000));
    };
    const auto not_kept = [](Bar& bar) {
        bar.start("begin").make(bar.u);
        bar.step("leap").need(bar.u.previous(2));
    };
    return refused(no_start) + refused(two_makers) + refused(circle) + refused(wide) + refused(not_kept);
}
