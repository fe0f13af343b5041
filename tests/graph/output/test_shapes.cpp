// What the labels of a shape may be: errors name the shape, the label, what it is and what is allowed.
#include "core/run/output/shapes.hpp"

#include "core/graph/declare/zones.hpp"
#include "tests/catch.hpp"
#include "tests/graph/temporary.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

template <class T, Kind K>
void fill(Graph& graph, const Family& family, Label<T, K> label) {
    Task task = graph.start().task("make " + graph.labels()[label.id()].name, family);
    task.make(label);
    task.run([](Here&) {});
}

/// Labels of all kinds, kept and not, on a grid of 4 x 3 cells and on three parts.
struct Declared {
    Graph graph{"shapes"};
    Grid& grid = graph.grid("plane", {.cells = {{0, 0, 0}, {4, 3, 1}}, .patch_cells = {2, 3, 1}});
    Grid& deep = graph.grid("deep", {.cells = {{0, 0, 0}, {4, 3, 2}}, .patch_cells = {2, 3, 2}});
    const Family& parts = graph.add<Family>("part", 3);

    Declared() {
        for (const auto& [name, on] : {std::pair{"x", On::nodes}, {"y", On::nodes}, {"hole", On::cells}})
            fields.push_back(field(name, grid, on));
        for (const std::string name : {"deep x", "deep y"}) fields.push_back(field(name, deep, On::nodes));
    }
    Field<double> field(const std::string& name, const Grid& on_grid, On on,
                        LabelOptions options = {.kept = true}) {
        const auto made = graph.field<double>(name, on_grid, on, options);
        fill(graph, on_grid, made);
        return made;
    }
    template <class T>
    List<T> list(const std::string& name, std::int64_t entries, int components = 1, bool kept = true) {
        const auto made =
            graph.list<T>(name, parts, [entries](int p) { return entries + (p == 2 ? entries : 0); },
                          {.components = components, .kept = kept});
        fill(graph, parts, made);
        return made;
    }
    std::string refused(const ShownShape& shape) const {
        return refusal([&] { check_shape(graph, resolve(graph), shape); });
    }
    std::vector<Field<double>> fields;
};

void check(const std::string& said, const std::vector<std::string>& parts) {
    INFO(said);
    for (const std::string& part : parts) {
        CAPTURE(part);
        CHECK(has(said, part));
    }
}

}  // namespace

TEST_CASE("a label that only the start makes is kept where it is declared so, else a shape refuses it") {
    Declared d;
    const auto lost = d.field("lost", d.grid, On::nodes, {});
    CHECK(d.refused(curvilinear("c", {{d.grid, {d.fields[0], d.fields[1]}, d.fields[2]}})).empty());
    check(d.refused(curvilinear("c", {{d.grid, {d.fields[0], lost}}})),
          {"shape 'c': 'lost', its coordinates, does not live until the next step", "{.kept = true}"});
    const Resolved resolved = resolve(d.graph);
    CHECK(is_kept(resolved, d.fields[0].id()));
    CHECK_FALSE(is_kept(resolved, lost.id()));
    for (const std::string& warning : resolved.warnings) CHECK_FALSE(has(warning, "'x'"));
}

TEST_CASE("curvilinear blocks say what is missing or lies elsewhere") {
    Declared d;
    const auto& f = d.fields;
    check(d.refused(curvilinear("c", {})), {"shape 'c': has no blocks"});
    check(d.refused(curvilinear("a/b", {{d.grid, {f[0], f[1]}}})), {"cannot have this name", "a/b"});
    check(d.refused(curvilinear("c", {{d.grid, {}}})), {"it has no coordinates", "two or three"});
    check(d.refused(curvilinear("c", {{d.grid, {f[0]}}})), {"one label with its coordinates", "1 component"});
    check(d.refused(curvilinear("c", {{d.grid, {f[0], ShownLabel()}}})),
          {"its coordinates is missing", "a field on nodes of 'plane' of f64 or f32"});
    check(d.refused(curvilinear("c", {{d.grid, {f[0], f[2]}}})),
          {"'hole' cannot be its coordinates", "given: a field on cells of 'plane' of f64",
           "allowed: a field on nodes of 'plane'"});
    check(d.refused(curvilinear("c", {{d.grid, {f[0], f[1]}, f[0]}})),
          {"'x' cannot be its blanking", "allowed: a field on cells of 'plane' of numbers"});
    check(d.refused(curvilinear("c", {{d.deep, {f[3], f[4]}}})),
          {"'deep' has coordinates for x and y alone", "2 cells in z", "1 cell in z, or coordinates for z"});
    const Grid& torn = d.graph.add<Grid>("torn", GridShape{.cells = {{0, 0, 0}, {4, 3, 1}}},
                                         std::vector<Box>{{{0, 0, 0}, {2, 3, 1}}});
    const auto x = d.field("torn x", torn, On::nodes), y = d.field("torn y", torn, On::nodes);
    check(d.refused(curvilinear("c", {{torn, {x, y}}})), {"leave parts of its domain out", "6 of 12 cells"});
}

TEST_CASE("each zone of a family is a block; the one that does not fit is named") {
    Declared d;
    const auto zones = [&](const std::string& name, int deep) -> const Zones& {
        ZoneList list(name);
        list.zone({{0, 0, 0}, {4, 3, 1}}, {2, 3, 1});
        list.zone({{-2, 0, 0}, {4, 3, deep}}, {2, 3, 1});
        return d.graph.add<Zones>(std::move(list));
    };
    const Zones &flat = zones("flat", 1), &deep = zones("thick", 2);
    const auto x = d.field("flat x", flat, On::nodes), y = d.field("flat y", flat, On::nodes);
    CHECK(d.refused(curvilinear("c", {{flat, {x, y}}})).empty());
    const auto u = d.field("thick x", deep, On::nodes), v = d.field("thick y", deep, On::nodes);
    check(d.refused(curvilinear("c", {{deep, {u, v}}})),
          {"zone 1 of 'thick' has coordinates for x and y alone", "2 cells in z"});
    CHECK(d.refused(curvilinear("c", {{deep, {u, v, d.field("thick z", deep, On::nodes)}}})).empty());
}

TEST_CASE("shapes of lists say which patch has which number of entries") {
    Declared d;
    const auto x = d.list<double>("px", 12), y = d.list<double>("py", 12), odd = d.list<double>("odd", 13);
    const auto ids = d.list<std::int32_t>("ids", 8);
    const auto bytes = d.list<std::uint8_t>("bytes", 2);
    const auto offsets = d.list<std::int64_t>("offsets", 3);
    const auto wrong = d.list<std::uint8_t>("wrong", 3);
    const Coordinates at{x, y};
    const CellLists quads{.connectivity = ids, .type = CellType::quadrilateral};
    CHECK(d.refused(surface("s", d.parts, at, quads, {.blank = bytes})).empty());
    check(d.refused(surface("s", d.parts, {x, odd}, quads)),
          {"'odd' on patch 0 of 'part'", "13 entries", "12 values, as the other coordinates"});
    check(d.refused(surface("s", d.parts, at, quads, {.blank = wrong})), {"'wrong' on patch 0", "2 cells"});
    check(d.refused(surface("s", d.parts, at, {.connectivity = ids, .type = CellType::triangle})),
          {"'ids' on patch 0 of 'part'", "8 entries", "a multiple of 3"});
    check(d.refused(surface("s", d.parts, at, {.connectivity = x, .type = CellType::triangle})),
          {"'px' cannot be its connectivity", "a list of 'part' of i64 or i32"});
    check(d.refused(surface("s", d.parts, at, {.connectivity = ids})), {"its offsets is missing"});
    check(d.refused(surface("s", d.parts, at, {ids, CellType::triangle, offsets})), {"have no offsets"});
    check(d.refused(unstructured("u", d.parts, at, {.connectivity = ids, .offsets = offsets})),
          {"its types is missing", "u8"});
    check(d.refused(unstructured("u", d.parts, at, {ids, CellType::by_label, offsets, wrong})),
          {"'wrong' on patch 0", "3 entries", "2 cells, one less than offsets"});
    check(d.refused(table("t", d.parts, {})), {"has no columns"});
    check(d.refused(table("t", d.parts, {x, odd})), {"'odd' on patch 0", "12 rows"});
    const auto one = d.list<std::int32_t>("one", 1), real = d.list<std::int32_t>("two", 2);
    check(d.refused(surface("s", d.parts, at, quads, {.cells_now = real})),
          {"'two' on patch 0 of 'part'", "2 entries", "1 entry"});
    check(d.refused(surface("s", d.parts, at, quads, {.points_now = x})),
          {"'px' cannot be its number of points", "a list of 'part' of i64 or i32"});
    check(d.refused(table("t", d.parts, {x}, {.points_now = one})), {"a table has no points", "its rows"});
    const auto zone = [](int p) -> Int3 { return {3, p == 2 ? 5 : 2, 1}; };
    CHECK(d.refused(curvilinear("z", d.parts, zone, at)).empty());
    check(d.refused(curvilinear(
              "z", d.parts,
              [](int) -> Int3 {
                  return {3, 2, 2};
              },
              at)),
          {"patch 0 of 'part' has coordinates for x and y alone"});
    check(d.refused(curvilinear(
              "z", d.parts,
              [](int) -> Int3 {
                  return {3, 2, 1};
              },
              at)),
          {"'px' on patch 2", "24 entries", "12 points"});
}
