// The particles of tests/graph/particles/cloud.hpp as a solver of the driver, with fields beside them:
//   cloud_shown CASE --out FOLDER --fields N --steps N
// With the key `dear` a third of the patches takes so much longer, and after every 50 steps another third.
#include <ctime>
#include <memory>
#include <vector>

#include "core/run/driver/driver.hpp"
#include "tests/graph/particles/cloud.hpp"
#include "tests/solvers/programs/cloud_values.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

/// Two boxes that leave most of the domain out, as refined patches do.
void add_boxes(Graph& graph) {
    GridShape shape;
    shape.cells = {{0, 0, 0}, {8, 6, 4}};
    const Grid& grid =
        graph.add<Grid>("fine", shape, std::vector<Box>{{{1, 1, 1}, {3, 4, 3}}, {{3, 0, 0}, {8, 2, 4}}});
    const auto number = graph.field<std::int32_t>("level", grid, On::cells, {.history = 1});
    Task first = graph.start().task("first level", grid);
    const auto made = first.make(number);
    first.run(
        [=](Here& here) { for_each(here.cells(), [&](int i, int j, int k) { here[made](i, j, k) = 5; }); });
    Task step = graph.step().task("keep level", grid);
    const auto before = step.need(number.previous());
    const auto after = step.make(number);
    step.run([=](Here& here) {
        for_each(here.cells(), [&](int i, int j, int k) { here[after](i, j, k) = here[before](i, j, k); });
    });
}

/// Spends CPU time on a dear patch.
void be_dear(const Here& here, double milliseconds) {
    const std::int64_t third = here.patch / 4, turn = here.step / 50 % 3;
    if (milliseconds == 0 || third != turn) return;
    const auto now = [] {
        timespec t{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return 1e3 * static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_nsec);
    };
    const double end = now() + milliseconds;
    while (now() < end) {
    }
}

/// Fields that are kept and never change: a vector on nodes, and numbers on cells with layers beyond the
/// walls.
void add_fields(Graph& graph, const Grid& grid, const double& dear) {
    const auto w = graph.field<float>("w", grid, On::nodes, {.components = 3, .history = 1, .unit = "m/s"});
    const auto n = graph.field<std::uint8_t>("n", grid, On::cells, {.history = 1, .border = {0, 0, 2}});
    {
        Task task = graph.start().task("first fields", grid);
        const auto vector = task.make(w);
        const auto number = task.make(n);
        task.run([=](Here& here) {
            for (int c = 0; c < 3; ++c)
                for_each(here[vector].box(),
                         [&](int i, int j, int k) { here[vector](i, j, k, c) = node_value(i, j, k, c); });
            for_each(here[number].box(),
                     [&](int i, int j, int k) { here[number](i, j, k) = cell_value(i, j, k); });
        });
    }
    Task task = graph.step().task("keep fields", grid);
    const auto old_vector = task.need(w.previous());
    const auto old_number = task.need(n.previous());
    const auto vector = task.make(w);
    const auto number = task.make(n);
    task.run([=, &dear](Here& here) {
        be_dear(here, dear);
        for (int c = 0; c < 3; ++c)
            for_each(here[vector].box(),
                     [&](int i, int j, int k) { here[vector](i, j, k, c) = here[old_vector](i, j, k, c); });
        for_each(here[number].box(),
                 [&](int i, int j, int k) { here[number](i, j, k) = here[old_number](i, j, k); });
    });
}

}  // namespace

int main(int argc, char** argv) {
    Flight flight;
    CaseSchema keys("cloud", "Particles that fly through the patches of a grid.");
    keys.key("kind", &flight.kind, {.choices = {"drift", "corner", "absorb"}, .meaning = "where they fly"});
    double dear = 0;
    keys.key("dear", &dear, {.unit = "ms", .least = 0, .meaning = "what dear patches take beside others"});
    std::vector<std::unique_ptr<Cloud>> clouds;  // live as long as their graphs
    return drive(argc, argv, keys, [&](Graph& graph) -> Solver {
        clouds.push_back(std::make_unique<Cloud>(flight, &graph));
        add_fields(graph, clouds.back()->grid(), dear);
        add_boxes(graph);
        return {};
    });
}
