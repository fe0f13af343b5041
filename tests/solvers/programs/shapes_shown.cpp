// A solver that shows one family of each shape, with values that tests/solvers/run/read_shapes.py knows:
//   shapes_shown CASE --out FOLDER --fields N --steps N
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "core/graph/declare/zones.hpp"
#include "core/run/driver/driver.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

/// A list that the start makes: value(patch, entry, component).
template <class T, class Value>
List<T> add_list(Graph& graph, const std::string& name, const Family& family,
                 std::function<std::int64_t(int)> entries, int components, Value value) {
    const auto label = graph.list<T>(name, family, std::move(entries),
                                     {.components = components, .unit = "m", .kept = true});
    Task task = graph.start().task("make " + name, family);
    const auto made = task.make(label);
    task.run([=](Here& here) {
        for (int c = 0; c < components; ++c)
            for (std::int64_t i = 0; i < here[made].size(); ++i)
                here[made].component(c)[static_cast<std::size_t>(i)] =
                    static_cast<T>(value(here.patch, static_cast<int>(i), c));
    });
    return label;
}

/// A field that the start makes: value(i, j, k, component), with 1000 z + i for i in zone z.
template <class T, class Value>
Field<T> add_field(Graph& graph, const std::string& name, const Grid& grid, On on, int components,
                   Value value) {
    const auto label = graph.field<T>(name, grid, on, {.components = components, .kept = true});
    Task task = graph.start().task("make " + name, grid);
    const auto made = task.make(label);
    task.run([=, &grid](Here& here) {
        const auto view = here[made];
        const Box box = view.box();
        const int zone = grid.zone_of(here.patch);
        for (int c = 0; c < components; ++c)
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j)
                    for (int i = box.lo[0]; i < box.hi[0]; ++i)
                        view(i, j, k, c) = static_cast<T>(value(1000 * zone + i, j, k, c));
    });
    return label;
}

/// Each step adds 1.
void count_up(Graph& graph, const Grid& grid, const Field<double>& field) {
    Task task = graph.step().task("count up " + grid.name(), grid);
    const auto now = task.modify(field);
    task.run([=](Here& here) {
        const Box box = here.cells();
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) here[now](i, j, k) += 1;
    });
}

/// A solid block with a hole, a flat ring that closes on itself, and a flat square of three unequal boxes.
ShownShape blocks(Graph& graph) {
    const Grid& solid = graph.grid("solid", {.cells = {{-1, 0, 0}, {5, 4, 3}}, .patch_cells = {3, 2, 3}});
    const auto at = add_field<double>(graph, "solid.at", solid, On::nodes, 3, [](int i, int j, int k, int c) {
        return c == 0 ? i + 0.125 * j * j : c == 1 ? j + 0.25 * k : k + 0.0625 * i * j;
    });
    const auto blank =
        add_field<std::int32_t>(graph, "solid.blank", solid, On::cells, 1,
                                [](int i, int j, int, int) { return i == 2 && j > 0 ? 0 : 7; });
    add_field<float>(graph, "solid.velocity", solid, On::nodes, 3,
                     [](int i, int j, int k, int c) { return i + 10 * j + 100 * k + 0.5 * c; });
    count_up(graph, solid,
             add_field<double>(graph, "solid.pressure", solid, On::cells, 1,
                               [](int i, int j, int k, int) { return i + 10 * j + 100 * k; }));
    const Grid& ring =
        graph.grid("ring", {.cells = {{0, 0, 0}, {8, 3, 1}}, .patch_cells = {4, 2, 1}, .periodic = {true}});
    const auto x = add_field<float>(graph, "ring.x", ring, On::nodes, 1,
                                    [](int i, int j, int, int) { return (j + 1) * (i % 8 - 3.5); });
    const auto y = add_field<float>(graph, "ring.y", ring, On::nodes, 1, [](int i, int j, int, int) {
        return (j + 1) * ((i % 8) * (i % 8) - 20);
    });
    count_up(graph, ring,
             add_field<double>(graph, "ring.pressure", ring, On::cells, 1,
                               [](int i, int j, int, int) { return i + 10 * j; }));
    const Grid& pieces = graph.add<Grid>(
        "pieces", GridShape{.cells = {{0, 0, 0}, {4, 4, 1}}},
        std::vector<Box>{{{0, 0, 0}, {2, 4, 1}}, {{2, 0, 0}, {4, 1, 1}}, {{2, 1, 0}, {4, 4, 1}}});
    const auto place = add_field<double>(graph, "pieces.place", pieces, On::nodes, 2,
                                         [](int i, int j, int, int c) { return c == 0 ? 20 + i : j; });
    return curvilinear("blocks", {{solid, at, blank}, {ring, {x, y}}, {pieces, place}});
}

/// A zone of three patches, one of four joined to it with other axes, and one apart with the indices of the
/// first.
ShownShape wing(Graph& graph) {
    ZoneList list("wing");
    const int a = list.zone({{0, 0, 0}, {6, 4, 2}}, {2, 4, 2});
    const int b = list.zone({{2, -1, 0}, {6, 5, 2}}, {2, 3, 2});
    list.zone({{0, 0, 0}, {6, 4, 2}}, {6, 4, 2});
    list.join(a, {0, true}, b, {1, false}, {2, 1, 3});
    const Zones& zones = graph.add<Zones>(std::move(list));
    const auto at = add_field<double>(graph, "wing.at", zones, On::nodes, 3, [](int i, int j, int k, int c) {
        return c == 0 ? i + 0.25 * j : c == 1 ? j - 0.125 * k : k;
    });
    const auto blank = add_field<std::uint8_t>(graph, "wing.blank", zones, On::cells, 1,
                                               [](int i, int j, int, int) { return i == 1003 || j == 2; });
    add_field<double>(graph, "wing.lift", zones, On::nodes, 1,
                      [](int i, int j, int k, int) { return 0.5 * i + 10 * j + 100 * k; });
    count_up(graph, zones,
             add_field<double>(graph, "wing.pressure", zones, On::cells, 1,
                               [](int i, int j, int k, int) { return i + 10 * j + 100 * k; }));
    return curvilinear("wings", {{zones, at, blank}});
}

/// Patch p has 2 + p, 3 and 2 cells.
ShownShape zones(Graph& graph) {
    const Family& zones = graph.add<Family>("zone", 3);
    const auto cells = [](int p) -> Int3 { return {2 + p, 3, 2}; };
    const auto count = [](int p) { return std::int64_t{(2 + p) * 3 * 2}; };
    const auto points = [](int p) { return std::int64_t{(3 + p) * 4 * 3}; };
    const auto x = add_list<double>(graph, "zone x", zones, points, 1,
                                    [](int p, int n, int) { return 10 * p + n % (3 + p); });
    const auto y = add_list<double>(graph, "zone y", zones, points, 1,
                                    [](int p, int n, int) { return n / (3 + p) % 4 * 0.5; });
    const auto z = add_list<double>(graph, "zone z", zones, points, 1,
                                    [](int p, int n, int) { return n / (3 + p) / 4 * 0.25; });
    const auto blank = add_list<std::uint8_t>(graph, "zone blank", zones, count, 1,
                                              [](int p, int n, int) { return n % 5 != p; });
    add_list<std::int64_t>(graph, "zone density", zones, count, 1,
                           [](int p, int n, int) { return 1000 * p + n; });
    add_list<float>(graph, "zone flux", zones, points, 2,
                    [](int p, int n, int c) { return 100 * p + n + 0.5 * c; });
    return curvilinear("zones", zones, cells, {x, y, z}, {.blank = blank});
}

/// Each part is a hexahedron, a tetrahedron and a triangle; part 1 has nothing.
ShownShape mixed(Graph& graph) {
    const Family& parts = graph.add<Family>("part", 4);
    const auto of = [](std::int64_t many, std::int64_t none = 0) {
        return [=](int p) { return p == 1 ? none : many; };
    };
    const auto points = [of](int p) { return of(10 + p)(p); };
    static constexpr int kIds[] = {0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 9, 7, 8, 9}, kOffsets[] = {0, 8, 12, 15},
                         kTypes[] = {12, 10, 5};
    const auto at = add_list<float>(graph, "part at", parts, points, 3,
                                    [](int p, int n, int c) { return 20 * p + n * (c + 1) % 7; });
    const auto ids =
        add_list<std::int32_t>(graph, "part ids", parts, of(15), 1, [](int, int n, int) { return kIds[n]; });
    const auto offsets = add_list<std::int64_t>(graph, "part offsets", parts, of(4, 1), 1,
                                                [](int, int n, int) { return kOffsets[n]; });
    const auto types = add_list<std::uint8_t>(graph, "part types", parts, of(3), 1,
                                              [](int, int n, int) { return kTypes[n]; });
    const auto blank = add_list<double>(graph, "part blank", parts, of(3), 1,
                                        [](int p, int n, int) { return p == 2 && n == 1 ? 0.0 : -1.0; });
    add_list<double>(graph, "part heat", parts, of(3), 1, [](int p, int n, int) { return 100 * p + n; });
    add_list<double>(graph, "part shift", parts, points, 3,
                     [](int p, int n, int c) { return 100 * p + n + 0.25 * c; });
    return unstructured("mixed", parts, at, {.connectivity = ids, .offsets = offsets, .types = types},
                        {.blank = blank});
}

/// Tetrahedra with as many corners of their own as there are cells.
ShownShape tetrahedra(Graph& graph) {
    const Family& tets = graph.add<Family>("tet", 3);
    const auto four = [](int) { return std::int64_t{4}; };
    const auto at = add_list<double>(graph, "tet at", tets, four, 3,
                                     [](int p, int n, int c) { return 3.0 * p + (n == c + 1 ? 1 : 0); });
    const auto ids = add_list<std::int64_t>(
        graph, "tet ids", tets, [](int) { return std::int64_t{16}; }, 1,
        [](int, int n, int) { return (n / 4 + n) % 4; });
    const auto load =
        add_list<double>(graph, "tet load", tets, four, 1, [](int p, int n, int) { return p + 0.25 * n; });
    add_list<double>(graph, "tet stress", tets, four, 6,
                     [](int p, int n, int c) { return p + 4 * n + 16 * c; });
    return unstructured("tetrahedra", tets, at, {.connectivity = ids, .type = CellType::tetrahedron},
                        {.on_points = {load}});
}

/// Strips of triangles, and on the same points a line around all of them and one across.
std::vector<ShownShape> panels(Graph& graph) {
    const Family& panels = graph.add<Family>("panel", 5);
    const auto points = [](int) { return std::int64_t{6}; };
    const auto x = add_list<double>(graph, "panel x", panels, points, 1,
                                    [](int p, int n, int) { return 2 * p + n / 2; });
    const auto y =
        add_list<double>(graph, "panel y", panels, points, 1, [](int, int n, int) { return n % 2; });
    const auto ids = add_list<std::int32_t>(
        graph, "panel ids", panels, [](int) { return std::int64_t{12}; }, 1,
        [](int, int n, int) { return n / 3 + n % 3; });
    add_list<double>(
        graph, "panel load", panels, [](int) { return std::int64_t{4}; }, 1,
        [](int p, int n, int) { return 10 * p + n; });
    add_list<double>(graph, "panel lift", panels, points, 1, [](int p, int n, int) { return 100 * p + n; });
    static constexpr int kWires[] = {0, 1, 3, 5, 4, 2, 0, 0, 5}, kOffsets[] = {0, 7, 9};
    const auto wires = add_list<std::int64_t>(
        graph, "wire ids", panels, [](int) { return std::int64_t{9}; }, 1,
        [](int, int n, int) { return kWires[n]; });
    const auto offsets = add_list<std::int32_t>(
        graph, "wire offsets", panels, [](int) { return std::int64_t{3}; }, 1,
        [](int, int n, int) { return kOffsets[n]; });
    add_list<float>(
        graph, "wire force", panels, [](int) { return std::int64_t{2}; }, 1,
        [](int p, int n, int) { return p - 0.5 * n; });
    return {surface("skin", panels, {x, y}, {.connectivity = ids, .type = CellType::triangle}),
            lines("wires", panels, {x, y}, {.connectivity = wires, .offsets = offsets})};
}

/// Lists with room for four triangles on each patch, of which there are (p + step) % 5 now, each with corners
/// of its own; the same as cells of two types on six points, and their numbers as a table.
std::vector<ShownShape> growing(Graph& graph) {
    const Family& drops = graph.add<Family>("drop", 3);
    const auto room = [](std::int64_t entries) { return [entries](int) { return entries; }; };
    const auto at = add_list<float>(graph, "drop at", drops, room(12), 2,
                                    [](int p, int n, int c) { return 100 * p + 2 * n + c; });
    const auto ids =
        add_list<std::int32_t>(graph, "drop ids", drops, room(12), 1, [](int, int n, int) { return n; });
    add_list<double>(graph, "drop heat", drops, room(4), 2,
                     [](int p, int n, int c) { return 10 * p + n + 0.5 * c; });
    add_list<double>(graph, "drop speed", drops, room(12), 3,
                     [](int p, int n, int c) { return 100 * p + n + 0.25 * c; });
    const auto number = add_list<std::int64_t>(graph, "drop number", drops, room(4), 1,
                                               [](int p, int n, int) { return p - n; });
    static constexpr int kOffsets[] = {0, 3, 7, 10, 14}, kTypes[] = {5, 10, 5, 10};
    const auto corners = add_list<std::int64_t>(graph, "film ids", drops, room(14), 1,
                                                [](int p, int n, int) { return (n + p) % 6; });
    const auto offsets = add_list<std::int32_t>(graph, "film offsets", drops, room(5), 1,
                                                [](int, int n, int) { return kOffsets[n]; });
    const auto types = add_list<std::uint8_t>(graph, "film types", drops, room(4), 1,
                                              [](int, int n, int) { return kTypes[n]; });
    const auto points = add_list<std::int64_t>(graph, "drop points", drops, room(1), 1,
                                               [](int p, int, int) { return 3 * p; });
    const auto cells =
        add_list<std::int32_t>(graph, "drop cells", drops, room(1), 1, [](int p, int, int) { return p; });
    Task task = graph.step().task("grow", drops);
    const auto more_points = task.modify(points);
    const auto more = task.modify(cells);
    task.run([=](Here& here) {
        here[more][0] = static_cast<std::int32_t>((here.patch + here.step) % 5);
        here[more_points][0] = 3 * here[more][0];
    });
    const CellLists films{.connectivity = corners, .offsets = offsets, .types = types};
    return {surface("drops", drops, at, {.connectivity = ids, .type = CellType::triangle},
                    {.points_now = points, .cells_now = cells}),
            unstructured("films", drops, at, films, {.cells_now = cells}),
            table("numbers", drops, {number}, {.cells_now = cells})};
}

/// Probe p has p + 1 rows.
ShownShape probes(Graph& graph) {
    const Family& probes = graph.add<Family>("probe", 4);
    const auto rows = [](int p) { return std::int64_t{p + 1}; };
    const auto number = add_list<std::int64_t>(graph, "number", probes, rows, 1,
                                               [](int p, int n, int) { return 10 * p + n; });
    const auto speed = add_list<double>(graph, "speed", probes, rows, 3,
                                        [](int p, int n, int c) { return p + 0.5 * n + 0.125 * c; });
    return table("probes", probes, {number, speed});
}

/// Notes the steps of its frames in FOLDER/frames.txt: every second step, and the end.
class Noted : public Frames {
  public:
    [[nodiscard]] std::int64_t every() const override { return 2; }
    [[nodiscard]] bool at_end() const override { return true; }
    void begin(const Simulation&, team::Team& team, const std::filesystem::path& folder, std::int64_t,
               bool) override {
        path_ = team.rank() == 0 ? folder / "frames.txt" : "/dev/null";
    }
    void write(const Simulation& run, team::Team&, double) override {
        std::ofstream(path_, std::ios::app) << run.step() << ' ';
    }

  private:
    std::filesystem::path path_;
};

}  // namespace

int main(int argc, char** argv) {
    CaseSchema keys("shapes", "One family of each shape.");
    bool wrong = false;
    double nap = 0;
    keys.key("nap", &nap,
             {.unit = "s", .least = 0, .decides = false, .meaning = "that each step takes at least"});
    keys.key("wrong", &wrong, {.meaning = "a cell names a point that is not there"});
    return drive(argc, argv, keys, [&](Graph& graph) -> Solver {
        Solver solver;
        solver.frames = {std::make_shared<Noted>()};
        solver.shapes = {blocks(graph), wing(graph),       zones(graph),
                         mixed(graph),  tetrahedra(graph), probes(graph)};
        for (ShownShape& shape : panels(graph)) solver.shapes.push_back(std::move(shape));
        for (ShownShape& shape : growing(graph)) solver.shapes.push_back(std::move(shape));
        graph.before_step(
            [&nap](std::int64_t) { std::this_thread::sleep_for(std::chrono::duration<double>(nap)); });
        if (wrong) {
            const Family& lost = graph.add<Family>("lost", 2);
            const auto at = add_list<double>(
                graph, "lost at", lost, [](int) { return std::int64_t{3}; }, 2,
                [](int, int n, int) { return n; });
            const auto ids = add_list<std::int32_t>(
                graph, "lost ids", lost, [](int) { return std::int64_t{3}; }, 1,
                [](int p, int n, int) { return n + p; });
            solver.shapes.push_back(
                surface("lost", lost, at, {.connectivity = ids, .type = CellType::triangle}));
        }
        return solver;
    });
}
