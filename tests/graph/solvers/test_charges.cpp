// Sums from the patches of one grid into those of another.
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/catch.hpp"
#include "tests/graph/solvers/charges.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

/// Nodes at which nobody adds are zero, and missing in what is expected.
void same_bits(const Charges::Nodes& is, const Charges::Nodes& expected) {
    int others = 0;
    for (const auto& [node, value] : expected) REQUIRE(is.contains(node));
    for (const auto& [node, value] : is) {
        const auto at = expected.find(node);
        const double wanted = at == expected.end() ? 0.0 : at->second;
        others += std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(wanted) ? 1 : 0;
    }
    CHECK(others == 0);
}

}  // namespace

TEST_CASE("charges on meshes of other patches are those of a loop that adds in the same order") {
    Charges charges;
    Simulation run(charges.graph, Members::alone(), {.threads = 2});
    run.start();
    for (int step = 1; step <= 12; ++step) {
        run.advance(1);
        CAPTURE(step);
        same_bits(Charges::values(run, *charges.pencils, charges.near.id()), charges.expected_near(run));
        same_bits(Charges::values(run, *charges.fine, charges.on_fine.id()), charges.expected_fine(run));
        same_bits(Charges::values(run, *charges.coarse, charges.on_coarse.id()),
                  charges.expected_coarse(run));
        double charge = 0;  // of particle n: 1 + n % 7, and 3.5 less of each second one
        for (int n = 0; n < 2 * 12 * 9 * 6; ++n) charge += 1 + n % 7 - 3.5 * (n % 2);
        // Exact in binary numbers. The background is 1/2 on each of 12 x 9 x 7 nodes, and 1/4 more where i is
        // 0. Of "spread more" patches 1 and 3 are at the lower border, so only 10 adds its 3/8.
        CHECK(run.value(charges.total) == charge + 0.5 * 12 * 9 * 7 + 0.25 * 9 * 7 + 0.375);
        CHECK(std::abs(run.value(charges.total_fine) - charge) < 1e-10);
        CHECK(std::abs(run.value(charges.total_coarse) - charge) < 1e-10);
    }
}
