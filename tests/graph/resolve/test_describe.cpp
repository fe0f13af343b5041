// The document of a resolved graph: what drawings are made from.
#include "core/graph/resolve/describe.hpp"

#include <fstream>
#include <iostream>
#include <sstream>

#include "tests/catch.hpp"
#include "tests/graph/resolve/sample.hpp"

using namespace strata::graph;

TEST_CASE("a sample graph is described as in the file from which drawings are tested") {
    const auto graph = strata::tests::sample_graph();
    std::ifstream file(STRATA_FIXTURES "/graph/sample.json");
    std::stringstream known;
    known << file.rdbuf();
    CHECK(describe(*graph, resolve(*graph)) == known.str());
}

TEST_CASE("a sum that reaches further to one side says how far to each") {
    Graph graph("lopsided");
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 8, 8}}, .patch_cells = {4, 4, 4}});
    auto mass = graph.field<double>("mass", grid, On::nodes);
    Task task = graph.step().task("scatter", grid);
    (void)task.sum(mass, Sides({0, 0, 0}, {1, 1, 1}));
    task.run([](Here&) {});
    CHECK(describe(graph, resolve(graph)).find("\"reach 0 0 0 to 1 1 1\"") != std::string::npos);
}

TEST_CASE("an object is described by its kind, and by the bytes of its type on each patch") {
    Graph graph("trees");
    const Family& parts = graph.add<Family>("parts", 5);
    const auto tree = graph.object<std::array<int, 6>>("tree", parts);
    Task task = graph.step().task("grow", parts);
    task.make(tree), task.run([](Here&) {});
    const std::string text = describe(graph, resolve(graph));
    CHECK(text.find(R"("kind":"object")") != std::string::npos);
    CHECK(text.find(R"("bytes":120)") != std::string::npos);
}

TEST_CASE("a task whose patches have an order needs what it makes itself") {
    Graph graph("sweep");
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}});
    const auto s = graph.field<double>("s", grid, On::cells), u = graph.field<double>("u", grid, On::cells);
    Task first = graph.start().task("first", grid), sum = graph.step().task("sum", grid);
    (void)first.make(u), first.run([](Here&) {});
    (void)sum.make(s), (void)sum.need(s, upwind({1, -1, 0}, 2).with_corners()), (void)sum.need(u);
    sum.run([](Here&) {});
    Task smooth = graph.step().task("smooth", grid);
    (void)smooth.modify(u, upwind(0, 1)), smooth.run([](Here&) {});
    Task apart = graph.step().task("apart", grid);
    (void)apart.modify(u.at(1), upwind(1, -1).within_zones()), apart.run([](Here&) {});
    const std::string text = describe(graph, resolve(graph));
    const auto number_of = [&](const char* name) {
        const std::size_t at = text.find(std::string(",\"name\":\"") + name + "\",\"what\"");
        REQUIRE(at != std::string::npos);
        return text.substr(text.rfind(':', at) + 1, at - text.rfind(':', at) - 1);
    };
    const auto has_edge = [&](const char* task, const std::string& rest) {
        const std::string of = number_of(task);
        return text.find("{\"from\":" + of + ",\"to\":" + of + "," + rest + ",\"lag\":0}") !=
               std::string::npos;
    };
    CHECK(has_edge("sum", R"("label":"s","version":0,"through":"upwind x+ y- 2 with corners")"));
    CHECK(has_edge("smooth", R"("label":"u","version":1,"through":"upwind x+")"));
    CHECK(has_edge("apart", R"("label":"u","version":2,"through":"upwind y- within zones")"));
}

TEST_CASE("a need without corners says so") {
    Graph graph("star");
    Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}});
    const auto u = graph.field<double>("u", grid, On::cells, {.history = 1});
    Task first = graph.start().task("first", grid), step = graph.step().task("step", grid);
    (void)first.make(u), first.run([](Here&) {});
    (void)step.need(u.previous(), ghosts(1).without_corners()), (void)step.make(u), step.run([](Here&) {});
    CHECK(describe(graph, resolve(graph)).find(R"("through":"ghosts 1 without corners")") !=
          std::string::npos);
}

// For making that file anew: test_graph_resolve '[print]' | grep '^{' > tests/fixtures/graph/sample.json
TEST_CASE("prints the sample's description", "[.][print]") {
    const auto graph = strata::tests::sample_graph();
    describe(*graph, resolve(*graph), std::cout);
}
