// The transport solver in the checking build.
#include "core/graph/simulation/simulation.hpp"
#include "solvers/transport/tasks.hpp"
#include "tests/catch.hpp"

using namespace strata;

namespace {

std::int64_t steps_of(const transport::Settings& settings, std::int64_t most) {
    graph::Graph graph("transport");
    (void)transport::declare(graph, settings);
    graph::Simulation run(graph, graph::Members::alone(), {.threads = 2});
    run.start();
    return run.advance(most);
}

/// Two and three directions, walls and none, patches of different sizes.
std::vector<transport::Settings> cases(std::int64_t cells) {
    std::vector<transport::Settings> all;
    for (const std::string equation : {"heat", "advection"})
        for (const bool periodic : {true, false})
            for (const std::size_t directions : {2U, 3U}) {
                transport::Settings s;
                s.equation = equation;
                s.periodic = periodic;
                s.cells = {cells, cells + 3, cells - 2}, s.patch_cells = {8, cells, 6};
                s.size = {1, 1.2, 0.8};
                s.flow = "rotation", s.profile = "gaussian";
                s.velocity = {1, -1, 0.5}, s.waves = {1, 1, 1}, s.centre = {0.5, 0.75, 0.5};
                s.end = 1e9;
                s.cells.resize(directions), s.patch_cells.resize(directions), s.size.resize(directions);
                all.push_back(s);
            }
    return all;
}

}  // namespace

TEST_CASE("the transport solver touches nothing but what it declares") {
    for (const transport::Settings& s : cases(18)) {
        CAPTURE(s.equation, s.periodic, s.cells.size());
        CHECK(steps_of(s, 5) == 5);
    }
}

TEST_CASE("the transport solver touches nothing but what it declares for long", "[.soak]") {
    for (const transport::Settings& s : cases(50)) {
        CAPTURE(s.equation, s.periodic, s.cells.size());
        CHECK(steps_of(s, 100) == 100);
    }
}
