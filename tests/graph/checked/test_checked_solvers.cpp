// Every solver of these tests in the checking build: none touches what it did not declare, in any layout.
#include "tests/catch.hpp"
#include "tests/graph/particles/cloud.hpp"
#include "tests/graph/solvers/solver.hpp"

using namespace strata::graph;
using namespace strata::tests;

TEST_CASE("solvers of any kind touch nothing but what they declare") {
    for (const Comparison& of : comparisons())
        for (const int threads : {1, 3}) {
            CAPTURE(of.name, threads);
            const auto solver = make_solver(of.name);
            Simulation run(solver->graph, Members::alone(), {.threads = threads});
            run.start();
            CHECK(run.advance(of.steps) == of.steps);
        }
}

TEST_CASE("particles are used within what each patch has, as they come and go") {
    for (const std::string kind : {"drift", "corner", "absorb"})
        for (const int threads : {1, 3}) {
            CAPTURE(kind, threads);
            Flight flight;
            flight.kind = kind;
            Cloud cloud(flight);
            Simulation run(cloud.graph(), Members::alone(), {.threads = threads});
            run.start();
            CHECK(run.advance(60) == 60);
            CHECK(run.value(cloud.number()) > 0);
        }
}

TEST_CASE("solvers touch nothing but what they declare for long", "[.soak]") {
    for (const Comparison& of : comparisons())
        for (const int threads : {1, 2, 5})
            for (std::uint64_t seed = 0; seed < 3; ++seed) {
                CAPTURE(of.name, threads, seed);
                const auto solver = make_solver(of.name);
                Simulation run(solver->graph, Members::alone(),
                               {.threads = threads, .shuffle = {.seed = seed}});
                run.start();
                CHECK(run.advance(10 * of.steps) == 10 * of.steps);
            }
    for (const std::string kind : {"drift", "corner", "absorb"}) {
        CAPTURE(kind);
        Flight flight;
        flight.kind = kind;
        flight.cells = {24, 24, 12}, flight.patch_cells = {4, 6, 3};
        flight.each = 8;
        Cloud cloud(flight);
        Simulation run(cloud.graph(), Members::alone(), {.threads = 2});
        run.start();
        CHECK(run.advance(500) == 500);
    }
}
