// What a solver declares: names, labels, scopes, shared values; and what a task says when it reaches too far.
#include "core/graph/declare/graph.hpp"

#include <array>
#include <cmath>

#include "core/base/error.hpp"
#include "core/graph/declare/inside_here.hpp"
#include "tests/catch.hpp"

using namespace strata::graph;
using strata::Error;

namespace {

GridShape square() { return {.cells = {{0, 0, 0}, {8, 8, 1}}, .patch_cells = {4, 4, 1}}; }

template <class Do>
std::string said(Do&& what) {
    try {
        what();
    } catch (const Error& error) {
        return error.text();
    }
    return {};
}

}  // namespace

TEST_CASE("a name is given once, to labels, tasks and scopes each") {
    Graph graph("g");
    Grid& grid = graph.grid("grid", square());
    (void)graph.field<double>("u", grid, On::cells);
    graph.step().task("u", grid);  // another kind of thing: no clash
    CHECK(said([&] { (void)graph.field<float>("u", grid, On::nodes); }).find("two labels of one name") !=
          std::string::npos);
    CHECK(said([&] { graph.start().task("u", grid); }).find("two tasks of one name") != std::string::npos);
    CHECK(said([&] { graph.step().subcycle("step", 2); }).find("two scopes of one name") !=
          std::string::npos);
    CHECK(said([&] { graph.step().task("", grid); }).find("without a name") != std::string::npos);
    (void)graph.particles("dust", grid);
    CHECK(said([&] { (void)graph.particles("dust", grid); }).find("two sets of particles of one name") !=
          std::string::npos);
}

TEST_CASE("a label that cannot be is refused when it is declared") {
    Graph graph("g");
    Grid& grid = graph.grid("grid", square());
    auto& zones = graph.add<Family>("zones", 3);
    CHECK_THROWS_AS(graph.field<double>("a", grid, On::cells, {.components = 0}), Error);
    CHECK_THROWS_AS(graph.field<double>("b", grid, On::cells, {.history = -1}), Error);
    CHECK_THROWS_AS(graph.list<double>("c", zones, {}), Error);
    CHECK_THROWS_AS(graph.scalars<double>("d", Reduce::sum, 0), Error);
    CHECK_THROWS_AS(graph.particle<double>(SetId(0), "e"), Error);
    const SetId set = graph.particles("dust", grid);
    CHECK_THROWS_AS(graph.particle<double>(set, "f", {.history = 1}), Error);
    CHECK(graph.labels()[graph.particle_sets().at(0).id_label].name == "dust.id");
    LabelInfo field;
    field.name = "on zones";
    field.family = &zones;
    CHECK(said([&] { (void)graph.label(field); }).find("'zones' is none") != std::string::npos);
    CHECK_THROWS_AS(graph.parameter({.name = "p", .value = 3, .least = 0, .most = 2}), Error);
    CHECK(*graph.parameter({.name = "q", .value = 1, .least = 0, .most = 2}) == 1);
    CHECK(said([&] {
              (void)graph.parameter({.name = "r", .value = -NAN, .least = 0, .most = 2});
          }).find("given: nan\n") != std::string::npos);
}

TEST_CASE("scopes know their parent, their form and what decides") {
    Graph graph("g");
    auto residual = graph.scalar<double>("residual", Reduce::max);
    Scope& loop = graph.step().repeat<double>(
        "solve", residual, [](double r) { return r < 0.5; }, 100);
    CHECK(loop.parent() == graph.step().id());
    CHECK(loop.form() == Scope::Form::repeat);
    CHECK(loop.most() == 100);
    CHECK(loop.decided_by() == Version{residual.id(), 0, 0});
    const double high = 1, low = 0.25;
    CHECK_FALSE(loop.decision()(&high));
    CHECK(loop.decision()(&low));
    CHECK_THROWS_AS(graph.step().subcycle("never", 0), Error);
    CHECK_THROWS_AS(loop.relocate(SetId(0), {}), Error);
}

TEST_CASE("shared values answer each other, and come in the order of patches") {
    const Family family("subdomains", 3);
    // One unknown that all three have, and one between 0 and 2.
    const Shared shared(
        "interface", family,
        {{{7, 2, 1}, {4, 2, 0}, {4, 1, 9}}, {{9, 2, 0}, {9, 0, 4}}, {{0, 0, 4}, {0, 1, 9}, {1, 0, 7}}});
    const std::vector<Piece> pieces = shared.pieces(0, On::cells);
    REQUIRE(pieces.size() == 2);
    CHECK(pieces[0].from == 1);
    CHECK(pieces[0].entries == std::vector<std::int32_t>{9});
    CHECK(pieces[1].from == 2);
    CHECK(pieces[1].at == 1);
    CHECK(pieces[1].entries == std::vector<std::int32_t>{0, 1});
    CHECK(shared.length(0) == 3);
    CHECK(shared.links(0)[2].entry == 7);

    using Links = std::vector<std::vector<Shared::Link>>;
    CHECK(said([&] {
              Shared("s", family, Links{{{4, 1, 9}}, {}, {}});
          }).find("the link back") != std::string::npos);
    CHECK(said([&] {
              Shared("s", family, Links{{{4, 0, 4}}, {}, {}});
          }).find("the same patch") != std::string::npos);
    CHECK(said([&] {
              Shared("s", family, Links{{{4, 3, 4}}, {}, {}});
          }).find("does not exist") != std::string::npos);
    CHECK(said([&] {
              Shared("s", family, Links{{{4, 1, 2}, {4, 1, 2}}, {{2, 0, 4}, {2, 0, 4}}, {}});
          }).find("twice") != std::string::npos);
    CHECK(said([&] { Shared("s", family, Links{{}, {}}); }).find("one a patch") != std::string::npos);
}

TEST_CASE("an access that was not declared names task, patch and label") {
    Graph graph("g");
    Grid& grid = graph.grid("grid", square());
    auto u = graph.field<double>("temperature", grid, On::cells);
    Task task = graph.step().task("diffuse", grid);
    task.need(u, ghosts(1));
    std::array<double, 4> values{};
    std::array<UseData, 1> places{};
    places[0].origin = reinterpret_cast<std::byte*>(values.data());
    places[0].box = {{0, 0, 0}, {5, 5, 1}};
    Here here;
    here.patch = 3;
    here.step = 12;
    CallData& call = InsideHere::of(here);
    call.family = &grid;
    call.use_data = places;
    call.task = &task.info();
    const std::string field = said([&] { refuse_index({&here, 0}, {33, 0, 0}, Box{{0, 0, 0}, {5, 5, 1}}); });
    const std::string list = said([&] { refuse_entry({}, 7, 4); });
    CHECK(field.find("task 'diffuse', patch 3 of 'grid', step 12: reads 'temperature' at (33, 0, 0)") !=
          std::string::npos);
    CHECK(field.find("(5, 5, 1)") != std::string::npos);
    CHECK(list.find("outside of any task: touches value 7 of a label, which has 4") != std::string::npos);
    CHECK(said([&] { here.fail("the density is negative"); }) ==
          Error("task 'diffuse', patch 3 of 'grid', step 12: the density is negative").text());
}
