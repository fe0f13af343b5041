// LU as a task graph, whatever its patches.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "benchmarks/npb/lu/integral.hpp"
#include "benchmarks/npb/lu/lu.hpp"
#include "benchmarks/npb/lu/tasks.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "tests/catch.hpp"

using namespace strata::npb;
using namespace strata::graph;

namespace {

struct Ran {
    strata::npb::Outcome outcome;
    std::vector<std::uint64_t> hashes;  // [patch] of all that is kept
};

Ran ran(lu::PatchSize size, const SimulationOptions& options) {
    const flow::Problem& problem = lu::problem_of(Class::S);
    lu::Tasks tasks(problem, size, Break::none);
    Simulation run(tasks.graph(), Members::alone(), options);
    run.start();
    run.advance(problem.iterations);
    const auto norm = [&](const auto& sums) { return flow::root_mean_square(run.value(sums), problem.n()); };
    const double integral = lu::integral_of(run.value(tasks.pressures), flow::scale_of(problem.n()));
    return {lu::concluded(problem, 1, norm(tasks.residual), norm(tasks.error), integral),
            run.hashes(tasks.grid())};
}

bool verified(const strata::npb::Outcome& outcome) {
    return std::ranges::all_of(outcome.checks, [](const Check& check) { return check.passed(); });
}

}  // namespace

TEST_CASE("LU as a task graph verifies with patches of any size") {
    // 10 planes and two eights of rows, of 8 and of 2, within the boundary.
    for (const lu::PatchSize size : {lu::PatchSize{1, 1}, {1, 3}, {2, 4}, {1, 10}, {2, 10}}) {
        CAPTURE(size.eights, size.planes);
        CHECK(verified(ran(size, {.threads = 2}).outcome));
    }
}

TEST_CASE("LU as a task graph has the same bits in whatever order and on whatever thread patches run") {
    const lu::PatchSize size{1, 2};
    const std::vector<std::uint64_t> expected = ran(size, {}).hashes;
    REQUIRE(expected.size() == 2 * 5);
    CHECK(ran(size, {.threads = 3}).hashes == expected);
    for (std::uint64_t seed = 1; seed < 4; ++seed)
        CHECK(ran(size, {.threads = 3, .shuffle = {.seed = seed}}).hashes == expected);
}
