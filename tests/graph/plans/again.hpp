// A small graph for plans: what makes a copy into a halo that nobody reads, or one that is made twice.
#pragma once

#include <string>

#include "tests/graph/simulation/small.hpp"

namespace strata::graph::testing {

/// The start changes a field in place; a loop without ghosts leaves the version that three read: a task
/// beside the loop, and two parts of the step that may be left out.
struct Again {
    Graph graph{"again"};
    Grid& grid;
    Field<double> u;
    Scalar<double> turn, left;

    explicit Again(const GridShape& shape)
        : grid(graph.grid("grid", shape)),
          u(graph.field<double>("u", grid, On::cells, {.kept = true})),
          turn(graph.scalar<double>("turn")),
          left(graph.scalar<double>("left", Reduce::max)) {
        Task first = graph.start().task("first", grid);
        nothing(first, first.make(u));
        Task other = graph.start().task("other", grid);
        nothing(other, other.modify(u));
        Task clock = graph.step().once("clock");
        nothing(clock, clock.make(turn));
        Scope& loop = graph.step().repeat<double>(
            "loop", left.at(0), [](double most) { return most < 0.5; }, 4);
        Task next = loop.task("next", grid);
        nothing(next, next.modify(u), next.contribute(left));
        look(graph.step(), "beside", u.at(1));
        const auto met = [](double now) { return now > 0; };
        look(graph.step().when<double>("one", turn.at(0), met).takes(u.at(1)), "one", u.at(0));
        look(graph.step().when<double>("two", turn.at(0), met).takes(u.at(1)), "two", u.at(0));
        Task last = graph.step().task("last", grid);
        nothing(last, last.modify(u.at(1)));
    }

  private:
    template <class... Uses>
    static void nothing(Task& task, const Uses&...) {
        task.run([](Here&) {});
    }
    void look(Scope& scope, const std::string& name, const auto& version) {
        Task task = scope.task("look " + name, grid);
        nothing(task, task.need(version, ghosts(1)),
                task.make(graph.field<double>("seen " + name, grid, On::cells)));
    }
};

}  // namespace strata::graph::testing
