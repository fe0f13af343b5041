// Joins that are found, map files, and whole grids from files, NASA's among them.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numbers>
#include <set>

#include "core/base/error.hpp"
#include "methods/curvilinear/bytes.hpp"
#include "methods/curvilinear/computed.hpp"
#include "methods/curvilinear/join.hpp"
#include "methods/curvilinear/map_file.hpp"
#include "methods/curvilinear/origin.hpp"
#include "methods/curvilinear/plot3d.hpp"
#include "methods/curvilinear/unpack.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/grids/flow_grids.hpp"

using namespace strata;
using namespace strata::flow;
using namespace strata::flow::tests;

namespace {

const std::filesystem::path kGrids = FLOW_GRIDS;

/// Cells that are joined, as text: "zone (i, j, k) behind face" for both sides of each.
std::set<std::string> joined_cells(const GridSystem& system) {
    std::set<std::string> found;
    const auto text = [&](int zone, const Int3& a, const Int3& b) {
        std::string words = std::to_string(zone) + ":";
        for (std::size_t d = 0; d < 3; ++d) words += " " + std::to_string(a[d] + b[d]);  // twice the middle
        return words;
    };
    for (const JoinRange& join : system.joins) {
        Box cells;
        for (std::size_t a = 0; a < 3; ++a)
            cells.lo[a] = join.points.begin[a],
            cells.hi[a] = std::max(join.points.end[a], join.points.begin[a] + 1);
        graph::for_each(cells, [&](int i, int j, int k) {
            const Int3 low{i, j, k};
            Int3 high = low;
            for (std::size_t a = 0; a < 3; ++a)
                if (join.points.begin[a] < join.points.end[a]) ++high[a];
            const std::string here = text(join.zone, low, high);
            const std::string there = text(join.donor, donor_point(join, low), donor_point(join, high));
            found.insert(std::min(here, there) + " = " + std::max(here, there));
        });
    }
    return found;
}

/// The system without its joins, found again: the same cells are joined as before.
void find_again(GridSystem system, std::size_t most_joins, const std::vector<Periodic>& periodic = {}) {
    const auto before = joined_cells(system);
    system.joins.clear();
    find_joins(system, periodic);
    CHECK(joined_cells(system) == before);
    CHECK(system.joins.size() <= most_joins);
    check_all(cut(system));
}

/// Writes a system as files.
GridFiles write(const Folder& folder, const GridSystem& system, const Plot3dForm& form, bool map) {
    std::vector<Plot3dZone> zones;
    for (int z = 0; z < zones_of(system); ++z) zones.push_back({system.source->node_box(z).hi, 0});
    GridFiles files;
    files.grid = folder.path / "grid.p3d";
    const Plot3dWriter writer(files.grid, Plot3dContent::grid, form, zones);
    writer.create();
    for (int z = 0; z < zones_of(system); ++z) {
        const Box nodes = system.source->node_box(z);
        std::vector<double> x(static_cast<std::size_t>(nodes.volume() * system.dimensions));
        system.source->nodes(z, nodes, x.data());
        for (int d = 0; d < system.dimensions; ++d) writer.values(z, d, nodes, x.data() + d * nodes.volume());
    }
    if (!map) return files;
    files.map = folder.path / "grid.nmf";
    write_map(files.map, system);
    return files;
}

std::map<std::string, std::int64_t> cells_by_name(const GridSystem& system) {
    std::map<std::string, std::int64_t> found;
    for (const BoundaryRange& b : system.boundaries) {
        std::int64_t cells = 1;
        for (std::size_t a = 0; a < 3; ++a) cells *= std::max(1, b.points.end[a] - b.points.begin[a]);
        found[b.name] += cells;
    }
    return found;
}

std::string message(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.message();
    }
    return "nothing was refused";
}

}  // namespace

TEST_CASE("joins of turned bricks are found, each as one rectangle") {
    for (const int dimensions : {2, 3}) {
        BrickGrid brick;
        brick.dimensions = dimensions, brick.cells = {12, 9, dimensions == 3 ? 8 : 1}, brick.wave = 0.05;
        brick.parts = {3, 2, 2}, brick.turned = true;
        const GridSystem system = generate(brick);
        find_again(system, system.joins.size());
    }
}

TEST_CASE("periodic joins are found where their shift or turn is given") {
    BrickGrid brick;
    brick.cells = {8, 6, 1}, brick.wave = 0.05, brick.periodic = {true, true, false}, brick.high = {2, 3, 1};
    brick.parts = {2, 1, 1}, brick.turned = true;
    find_again(generate(brick), 5, {{graph::kNoRotation, {2, 0, 0}}, {graph::kNoRotation, {0, 3, 0}}});
    // A sector of 30 degrees.
    const double angle = std::numbers::pi / 6, c = std::cos(angle), s = std::sin(angle);
    const auto at = [=](int, const Int3& node) {
        const double r = 1 + 0.1 * node[0], phi = angle * node[1] / 5;
        return Real3{r * std::cos(phi), r * std::sin(phi), 0.2 * node[2]};
    };
    GridSystem sector{
        std::make_shared<ComputedGrid>(3, std::vector<ZoneShape>{{.name = "sector", .cells = {4, 5, 3}}}, at),
        {},
        {},
        3,
        {}};
    find_joins(sector, {{{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}}, {}}});
    REQUIRE(sector.joins.size() == 1);
    name_the_rest(sector);
    check_all(cut(sector));
    CHECK(cells_by_name(sector) ==
          std::map<std::string, std::int64_t>{
              {"sector:i-min", 15}, {"sector:i-max", 15}, {"sector:k-min", 20}, {"sector:k-max", 20}});
}

TEST_CASE("faces of zones that lie on the same side are not joined") {
    // Both begin at x = 0 and go on to the right.
    const auto at = [](int zone, const Int3& node) {
        return Real3{node[0] * (zone == 0 ? 0.1 : 0.2), 0.1 * node[1], 0};
    };
    GridSystem system{
        std::make_shared<ComputedGrid>(
            2, std::vector<ZoneShape>{{.name = "a", .cells = {4, 5, 1}}, {.name = "b", .cells = {6, 5, 1}}},
            at),
        {},
        {},
        2,
        {}};
    find_joins(system);
    CHECK(system.joins.empty());
}

TEST_CASE("wake cuts, O-grids and slits are found") {
    find_again(generate(AirfoilGrid{}), 1);
    find_again(generate(CylinderGrid{}), 1);
    AirfoilGrid blunt;
    blunt.tail = "blunt";
    find_again(generate(blunt), 2);
    WingGrid wing;
    wing.section.cells_surface = 16, wing.section.cells_wake = 6, wing.section.cells_out = 20,
    wing.section.first = 1e-3;
    wing.section.first_nose = 0.02, wing.section.first_tail = 0.04, wing.section.farfield = 20;
    wing.cells_span = 6, wing.cells_beyond = 3, wing.taper = 0.5;
    find_again(generate(wing), 2);
}

TEST_CASE("faces that are collapsed to an axis are set aside and said") {
    // A quarter of a cylinder about z: face i-min is its axis.
    const auto at = [](int, const Int3& node) {
        const double r = 0.25 * node[0], phi = std::numbers::pi / 2 * node[1] / 6;
        return Real3{r * std::cos(phi), r * std::sin(phi), 0.5 * node[2]};
    };
    GridSystem system{
        std::make_shared<ComputedGrid>(3, std::vector<ZoneShape>{{.name = "", .cells = {4, 6, 3}}}, at),
        {},
        {},
        3,
        {}};
    find_joins(system);
    name_the_rest(system);
    check_all(cut(system));
    CHECK(system.joins.empty());
    CHECK(cells_by_name(system).at("collapsed") == 18);
    CHECK(cells_by_name(system).at("1:j-max") == 12);
    REQUIRE(system.notes.size() == 1);
    CHECK(system.notes[0] == "face i-min of zone 1 is collapsed: its cells have no area there");
}

TEST_CASE("grids with map files are read back as they were written") {
    const Folder folder;
    Plot3dForm form;
    SECTION("a C-grid, two-dimensional, formatted") {
        form.dimensions = 2, form.kind = Plot3dKind::formatted;
        const GridSystem system = generate(AirfoilGrid{});
        const GridSystem read = read_grid(write(folder, system, form, true));
        CHECK(joined_cells(read) == joined_cells(system));
        CHECK(cells_by_name(read) == cells_by_name(system));
        check_all(cut(read));
    }
    SECTION("turned bricks, periodic, big-endian") {
        form.big_endian = true;
        BrickGrid brick;
        brick.dimensions = 3, brick.cells = {12, 9, 8}, brick.wave = 0.05, brick.parts = {3, 2, 2};
        brick.turned = true, brick.periodic = {false, true, false};
        const GridSystem system = generate(brick);
        const GridSystem read = read_grid(write(folder, system, form, true));
        CHECK(joined_cells(read) == joined_cells(system));
        CHECK(cells_by_name(read) == cells_by_name(system));
        check_all(cut(read));
    }
}

TEST_CASE("without a map file joins are found and other faces named by zone and face") {
    const Folder folder;
    Plot3dForm form;
    BrickGrid brick;
    brick.dimensions = 3, brick.cells = {8, 6, 6}, brick.wave = 0.05, brick.parts = {2, 1, 1},
    brick.turned = true;
    const GridSystem system = generate(brick);
    const GridSystem read = read_grid(write(folder, system, form, false));
    CHECK(joined_cells(read) == joined_cells(system));
    CHECK(read.boundaries.size() == 10);
    CHECK(cells_by_name(read).count("1:i-min") == 1);
    check_all(cut(read));
}

TEST_CASE("a zone that touches no other is refused") {
    const Folder folder;
    BrickGrid brick;
    brick.cells = {9, 6, 1}, brick.parts = {3, 1, 1};
    const GridSystem joined = generate(brick);
    // Cells are 0.11 long there: points match up to a hundredth of that, and to 1e-5 of the extent.
    for (const double gap : {0.0, 5e-6, 2e-3}) {
        const auto at = [&](int zone, const Int3& node) {
            double x[2];
            joined.source->nodes(zone, {node, {node[0] + 1, node[1] + 1, 1}}, x);
            return Real3{x[0] + (zone == 2 ? gap : 0), x[1], 0};
        };
        const auto zones = joined.source->zones();
        const GridSystem apart{
            std::make_shared<ComputedGrid>(2, std::vector<ZoneShape>(zones.begin(), zones.end()), at),
            {},
            {},
            2,
            {}};
        Plot3dForm form;
        form.dimensions = 2;
        const GridFiles files = write(folder, apart, form, false);
        CHECK(message([&] { (void)read_grid(files); }) ==
              (gap < 1e-3 ? "nothing was refused" : "zone 3 touches no zone to which zone 1 is joined"));
    }
}

TEST_CASE("a hole in a grid of joined zones is refused with zone and node") {
    const Folder folder;
    GridFiles files;
    files.grid = folder.file("grid", "1\n3 2\n0 1 2 0 1 2\n0 0 0 1 1 1\n1 1 1 1 1 0\n");
    const GridSystem system = read_grid(files);
    check_cells(*system.source, 0, {{0, 0, 0}, {1, 1, 1}});
    CHECK(message([&] {
              check_cells(*system.source, 0, {{0, 0, 0}, {2, 1, 1}});
          }) == "node (3, 2) of zone 1 is a hole");
}

TEST_CASE("left-handed zones are turned, with their map, and a note says so") {
    const Folder folder;
    // A plate whose j runs downwards in the file.
    PlateGrid plate;
    plate.cells_up = 8, plate.first = 0.01;
    const GridSystem right = generate(plate);
    const auto at = [&](int zone, const Int3& node) {
        double x[2];
        right.source->nodes(zone, {{node[0], 8 - node[1], 0}, {node[0] + 1, 9 - node[1], 1}}, x);
        return Real3{x[0], x[1], 0};
    };
    const auto cells = right.source->zones()[0].cells;
    GridSystem left{
        std::make_shared<ComputedGrid>(2, std::vector<ZoneShape>{{.name = "", .cells = cells}}, at),
        right.boundaries,
        {},
        2,
        {}};
    for (BoundaryRange& b : left.boundaries) {
        if (b.face.axis != 1) continue;
        b.face.upper = !b.face.upper;
        b.points.begin[1] = b.points.end[1] = 8 - b.points.begin[1];
    }
    Plot3dForm form;
    form.dimensions = 2;
    const GridSystem read = read_grid(write(folder, left, form, true));
    check_all(cut(read));
    REQUIRE(read.turned.size() == 1);
    CHECK(read.turned[0] ==
          "zone 1 of " + (folder.path / "grid.p3d").string() +
              " is left-handed and turned inside (along j); names and indices stay the file's");
    for (const BoundaryRange& b : read.boundaries)
        if (b.name == "wall") CHECK(b.points.begin == Int3{plate.cells_before, 0, 0});
    double x[2];
    read.source->nodes(0, {{3, 0, 0}, {4, 1, 1}}, x);
    CHECK(x[1] == 0);
    const auto& shape = read.source->zones()[0];
    CHECK(shape.first == Int3{0, 8, 0});
    CHECK(shape.step == Int3{1, -1, 1});
    // Parts of it say where they are in the file, too.
    CHECK(cut(read).source->zones()[1].first == Int3{plate.cells_before, 8, 0});
}

TEST_CASE("values on zones that were cut are those of the file's zones") {
    const Folder folder;
    // A C-grid, left-handed in the file, that becomes three zones.
    const GridSystem right = generate(AirfoilGrid{});
    const auto cells = right.source->zones()[0].cells;
    const auto at = [&](int zone, const Int3& node) {
        double x[2];
        right.source->nodes(zone,
                            {{node[0], cells[1] - node[1], 0}, {node[0] + 1, cells[1] - node[1] + 1, 1}}, x);
        return Real3{x[0], x[1], 0};
    };
    const GridSystem left{
        std::make_shared<ComputedGrid>(2, std::vector<ZoneShape>{{.name = "", .cells = cells}}, at),
        {},
        {},
        2,
        {}};
    Plot3dForm form;
    form.dimensions = 2;
    const GridFiles files = write(folder, left, form, false);
    const GridSystem system = cut(read_grid(files));
    REQUIRE(zones_of(system) == 3);
    CHECK(system.source->zones()[0].step[1] == -1);
    // A function of places, in cells.
    const auto wanted = [](double x, double y) { return std::cos(x) + 2 * y; };
    const OriginWriter q(system.source, folder.path / "q", Plot3dContent::q, form);
    q.create({0.15, 10, 6e6, 0});
    const auto in_cells = [&](int zone, const Box& box) {
        const Piece nodes = nodes_of(*system.source, zone, box);
        std::vector<double> values;
        graph::for_each(box, [&](int i, int j, int) {
            double x[2]{};
            for (int d = 0; d < 2; ++d)
                for (const auto& [a, b] : {std::pair{0, 0}, {1, 0}, {0, 1}, {1, 1}})
                    x[d] += nodes.view()(i + a, j + b, 0, d) / 4;
            values.push_back(wanted(x[0], x[1]));
        });
        return values;
    };
    for (int z = 2; z >= 0; --z) {
        Box lower = cells_of(system, z), upper = lower;
        lower.hi[1] = upper.lo[1] = 20;
        for (const Box& box : {upper, lower}) q.cells(z, 3, box, in_cells(z, box).data());
    }
    const OriginValues read(system.source, folder.path / "q", Plot3dContent::q);
    CHECK(read.file().conditions(0)[1] == 10);
    CHECK(read.file().zones()[0].points == cells);
    for (int z = 0; z < 3; ++z) {
        const Box box{{3, 5, 0}, {17, 40, 1}};
        std::vector<double> found(static_cast<std::size_t>(box.volume()));
        read.cells(z, 3, box, found.data());
        CHECK(found == in_cells(z, box));
    }
    // In the file j runs as it does in the grid's: its last row is at the wall.
    double last[1], first[1];
    Plot3dFile(folder.path / "q", Plot3dContent::q).values(0, 3, {{90, 63, 0}, {91, 64, 1}}, last);
    read.cells(1, 3, {{90 - 48, 0, 0}, {91 - 48, 1, 1}}, first);
    CHECK(last[0] == first[0]);
    // Of a file of nodes cells have the means.
    const OriginValues grid(system.source, files.grid, Plot3dContent::grid);
    double mean[1], corners[8];
    grid.cells(1, 1, {{90, 2, 0}, {91, 3, 1}}, mean);
    system.source->nodes(1, {{90, 2, 0}, {92, 4, 1}}, corners);
    CHECK(mean[0] == Approx((corners[4] + corners[5] + corners[6] + corners[7]) / 4).epsilon(1e-14));
    // Another grid's.
    CHECK(message([&] {
              OriginValues(generate(CylinderGrid{}).source, folder.path / "q", Plot3dContent::q);
          }) == "zone 1 of the file has other sizes than that of the grid");
}

TEST_CASE("planes of a three-dimensional file are read as a two-dimensional grid") {
    const Folder folder;
    // As CFL3D has them: two planes in i, x and z in them.
    const GridSystem flat = generate(AirfoilGrid{});
    const auto n = flat.source->zones()[0].cells;
    for (const int planes : {1, 2}) {
        const Plot3dWriter writer(folder.path / "grid", Plot3dContent::grid, {},
                                  {{{planes, n[0] + 1, n[1] + 1}, 0}});
        writer.create();
        std::vector<double> x(static_cast<std::size_t>(2 * flat.source->node_box(0).volume()));
        flat.source->nodes(0, flat.source->node_box(0), x.data());
        const std::size_t count = x.size() / 2;
        for (int p = 0; p < planes; ++p) {
            const Box plane{{p, 0, 0}, {p + 1, n[0] + 1, n[1] + 1}};
            const std::vector<double> y(count, -p);
            // Rows of one value each: i is the axis across.
            writer.values(0, 0, plane, x.data());
            writer.values(0, 1, plane, y.data());
            writer.values(0, 2, plane, x.data() + count);
        }
        GridFiles files;
        files.grid = folder.path / "grid", files.dimensions = 2;
        files.map = folder.path / "map";
        write_map(files.map, flat);
        const GridSystem read = read_grid(files);
        CHECK(read.dimensions == 2);
        CHECK(joined_cells(read) == joined_cells(flat));
        std::vector<double> again(x.size());
        read.source->nodes(0, read.source->node_box(0), again.data());
        CHECK(again == x);
    }
}

TEST_CASE("NASA's grids are read, joined and cut") {
    if (!can_unpack()) return;
    GridFiles files;
    files.grid = kGrids / "n0012_225-65.p2dfmt.xz", files.map = kGrids / "n0012_225-65.nmf";
    const GridSystem airfoil = read_grid(files);
    CHECK(cells_by_name(airfoil) ==
          std::map<std::string, std::int64_t>{{"farfield_riem", 64 + 64 + 224}, {"viscous_solid", 128}});
    REQUIRE(airfoil.joins.size() == 1);
    CHECK(airfoil.joins[0].points.end == Int3{48, 0, 1});
    CHECK(airfoil.joins[0].transform == Int3{-1, -2, 3});
    // The same join with its ranges said backwards.
    const Folder folder;
    std::ifstream nmf(files.map);
    std::string map((std::istreambuf_iterator<char>(nmf)), std::istreambuf_iterator<char>());
    const std::string forwards = "1    2   1   49  1   1   1   2  225   177";
    const std::size_t place = map.find(forwards);
    REQUIRE(place != std::string::npos);
    map.replace(place, forwards.size(), "1 2 49 1 1 1 1 2 177 225");
    files.map = folder.file("backwards.nmf", map);
    CHECK(joined_cells(read_grid(files)) == joined_cells(airfoil));
    const GridSystem parts = cut(airfoil);
    check_all(parts);
    CHECK(zones_of(parts) == 3);
    CHECK(parts.source->zones()[1].cells == Int3{128, 64, 1});

    files.grid = kGrids / "flatplate_clust2_2levelsdown_137x97.p2dfmt.xz";
    files.map = kGrids / "flatplate_clust2_2levelsdown_137x97.nmf";
    const GridSystem plate = cut(read_grid(files));
    check_all(plate);
    CHECK(zones_of(plate) == 2);
    CHECK(plate.source->zones()[0].cells == Int3{24, 96, 1});
    double x[2];
    plate.source->nodes(1, {{0, 0, 0}, {1, 1, 1}}, x);
    CHECK(x[0] == Approx(0).margin(1e-12));

    // Without a map the wake is found.
    files.grid = kGrids / "n0012_113-33.p2dfmt.xz", files.map.clear();
    const GridSystem coarse = read_grid(files);
    REQUIRE(coarse.joins.size() == 1);
    CHECK(coarse.joins[0].points.end == Int3{24, 0, 1});
    check_all(cut(coarse));
}

TEST_CASE("a packed file is unpacked, or refused for what is wrong with it") {
    std::ifstream in(kGrids / "n0012_113-33.p2dfmt.xz", std::ios::binary);
    const std::string packed((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const Folder folder;
    const auto read = [&](const std::string& bytes) { return read_whole(folder.file("grid.xz", bytes)); };
    const auto refused = [&](const std::string& bytes) {
        try {
            (void)read(bytes);
        } catch (const Error& error) {
            CHECK(error.message() == "the file cannot be unpacked");
            CHECK(error.remedy().find("xz -dk") != std::string::npos);
            return error.given();
        }
        return std::string("nothing was refused");
    };
    if (!can_unpack()) {
        CHECK(refused(packed) == "this Strata was made without liblzma");
        return;
    }
    const std::string grid = read(packed);
    CHECK(grid.size() > 100000);
    CHECK(read(packed + packed) == grid + grid);  // two streams, as `cat` makes them
    CHECK(refused(packed.substr(0, packed.size() - 9)) == "it ends too early");
    CHECK(refused("") == "it ends too early");
    CHECK(refused("1 2 3\n") == "it is no .xz file");
    std::string changed = packed;
    changed[changed.size() / 2] = static_cast<char>(~changed[changed.size() / 2]);
    CHECK(refused(changed) == "it is damaged");
    // The old form of lzma: its head says how much memory is taken, here 1 GiB.
    CHECK(refused(std::string("\x5d\0\0\0\x40", 5) + std::string(8, '\xff') + std::string(20, '\0')) ==
          "unpacking it takes more than 80 MiB of memory");
}

TEST_CASE("what is wrong in a map file is refused with its line") {
    const Folder folder;
    Plot3dForm form;
    form.dimensions = 2;
    GridFiles files = write(folder, generate(PlateGrid{}), form, false);
    const auto refused = [&](const std::string& lines, const std::string& sizes = "1 2 69 49") {
        files.map = folder.file("map", "# a comment\n1\n" + sizes + "\n" + lines);
        try {
            (void)cut(read_grid(files));
        } catch (const Error& error) {
            return error.text();
        }
        return std::string("nothing was refused");
    };
    const std::string rest =
        "'in' 1 5 1 49 1 2\n'out' 1 6 1 49 1 2\n'top' 1 2 1 2 1 69\n'sides' 1 3 1 69 1 49\n";
    CHECK(refused(rest + "'wall' 1 1 1 2 1 69 ! all of it\n") == "nothing was refused");
    // All parts at once.
    const std::string bare = refused("'wall' 1 1 1 2 1 68\n'in' 1 5 1 49 1 2\n'out' 1 6 1 49 1 2\n");
    CHECK(bare.find("2 parts of faces have neither a boundary nor a join") != std::string::npos);
    CHECK(
        bare.find("j-min of zone 1, nodes (68, 1) to (69, 1); j-max of zone 1, nodes (1, 49) to (69, 49)") !=
        std::string::npos);
    CHECK(refused(rest + "'wall' 1 1 1 2 1 70\n").find("map:8") != std::string::npos);
    CHECK(refused(rest + "'wall' 1 7 1 2 1 69\n").find("a zone has no face of this number") !=
          std::string::npos);
    CHECK(refused(rest + "'wall' 2 1 1 2 1 69\n")
              .find("the map speaks of a zone that the grid does not have") != std::string::npos);
    CHECK(refused(rest + "'wall' 1 1 1 2 1\n").find("too few or too many words") != std::string::npos);
    CHECK(refused(rest + "'wall' 1 1 1 2 1 6q\n").find("6q") != std::string::npos);
    CHECK(refused(rest, "1 2 69 50").find("other sizes in the map file") != std::string::npos);
    CHECK(refused(rest + "'one-to-one' 1 1 1 2 1 30 1 1 1 2 69 41 false\n").find("different sizes") !=
          std::string::npos);
    CHECK(refused(rest + "'one-to-one' 1 1 1 2 1 30 1 1 1 2 69 40 false\n").find("which is another place") !=
          std::string::npos);
    CHECK(refused(rest + "'one-to-one' 1 1 1 2 1 30 1 1 1 2 69 40 maybe\n").find("true, false") !=
          std::string::npos);
    CHECK(message([&] {
              files.map = folder.file("map", "2\n1 2 69 49\n2 2 5 5\n");
              (void)read_grid(files);
          }) == "the map file has another number of zones than the grid");
    // Two zones in another order than the grid has them: the line is that of the zone.
    BrickGrid brick;
    brick.dimensions = 2, brick.cells = {4, 3, 1}, brick.parts = {2, 1, 1};
    files = write(folder, generate(brick), form, false);
    const auto sizes_refused = [&](const std::string& sizes) {
        files.map = folder.file("map", "2\n" + sizes);
        try {
            (void)read_grid(files);
        } catch (const Error& error) {
            return error.text();
        }
        return std::string("nothing was refused");
    };
    CHECK(sizes_refused("2 2 3 5\n1 2 3 4\n").find("map:2\n") != std::string::npos);
    CHECK(sizes_refused("2 2 3 5\n1 2 3 4\n").find("zone 2 has other sizes") != std::string::npos);
    CHECK(sizes_refused("1 2 3 4\n1 2 3 4\n").find("the map has sizes of zone 1 twice") != std::string::npos);
}
