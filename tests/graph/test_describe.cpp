// The document of a resolved graph: what drawings are made from.
#include "core/graph/resolve/describe.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/graph/sample.hpp"

using namespace strata::graph;

TEST_CASE("a sample graph is described as in the file from which drawings are tested") {
    const auto graph = strata::tests::sample_graph();
    std::ifstream file(STRATA_FIXTURES "/graph/sample.json");
    std::stringstream known;
    known << file.rdbuf();
    CHECK(describe(*graph, resolve(*graph)) == known.str());
}

// For making that file anew: test_graph_resolve '[print]' | grep '^{' > tests/fixtures/graph/sample.json
TEST_CASE("prints the sample's description", "[.][print]") {
    const auto graph = strata::tests::sample_graph();
    describe(*graph, resolve(*graph), std::cout);
}
