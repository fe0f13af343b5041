// Generated grids: their cells, sides and joins; and zones that are cut.
#include <numbers>
#include <set>

#include "core/base/error.hpp"
#include "methods/curvilinear/computed.hpp"
#include "methods/curvilinear/section.hpp"
#include "methods/curvilinear/stretch.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/grids/flow_grids.hpp"

using namespace strata;
using namespace strata::flow;
using namespace strata::flow::tests;

namespace {

Real3 node(const GridSystem& system, int zone, const Int3& at) {
    double x[3]{};
    system.source->nodes(zone, {at, {at[0] + 1, at[1] + 1, at[2] + 1}}, x);
    return {x[0], x[1], system.dimensions == 3 ? x[2] : 0};
}

std::set<std::string> names(const GridSystem& system) {
    std::set<std::string> found;
    for (const BoundaryRange& b : system.boundaries) found.insert(b.name);
    return found;
}

/// Cells of faces that are boundary, of a name.
std::int64_t cells_named(const GridSystem& system, const std::string& name) {
    std::int64_t count = 0;
    for (const BoundaryRange& b : system.boundaries) {
        if (b.name != name) continue;
        std::int64_t cells = 1;
        for (std::size_t a = 0; a < 3; ++a) cells *= std::max(1, b.points.end[a] - b.points.begin[a]);
        count += cells;
    }
    return count;
}

}  // namespace

TEST_CASE("rows of cells have the first and last cells that were asked for") {
    const auto row = geometric(20, 1e-5, 500);
    CHECK(row[1] == Approx(1e-5).epsilon(1e-10));
    CHECK(row.back() == 500);
    CHECK((row[20] - row[19]) / (row[19] - row[18]) == Approx(geometric_ratio(20, 1e-5, 500)));
    CHECK(geometric(4, 0.25, 1)[2] == Approx(0.5));
    CHECK(geometric(10, 0.4, 1)[1] == Approx(0.4));  // shrinking
    for (const auto& [first, last] : {std::pair{0.001, 0.002}, {0.05, 0.001}, {0.02, 0.08}, {0.2, 0.2}}) {
        const auto both = two_sided(30, first, last, 2);
        CHECK(both[1] == Approx(first).epsilon(1e-6));
        CHECK(2 - both[29] == Approx(last).epsilon(1e-6));
        for (std::size_t i = 1; i < both.size(); ++i) CHECK(both[i] > both[i - 1]);
    }
}

TEST_CASE("bricks are joined in turned parts, also periodically") {
    for (const int dimensions : {2, 3})
        for (const bool periodic : {false, true}) {
            BrickGrid brick;
            brick.dimensions = dimensions, brick.cells = {12, 9, dimensions == 3 ? 8 : 1}, brick.wave = 0.05;
            brick.parts = {3, 2, 2}, brick.turned = true;
            if (periodic) brick.periodic = {true, true, true};
            const GridSystem system = cut(generate(brick));
            check_all(system);
            CHECK(zones_of(system) == (dimensions == 3 ? 12 : 6));
            CHECK(names(system).size() == (periodic ? 0u : dimensions == 3 ? 6u : 4u));
            if (!periodic) CHECK(cells_named(system, "x-max") == 9 * (dimensions == 3 ? 8 : 1));
        }
}

TEST_CASE("turned parts have other axes at their joins") {
    BrickGrid brick;
    brick.dimensions = 3, brick.cells = {6, 6, 6}, brick.parts = {2, 3, 1}, brick.turned = true;
    std::set<Int3> transforms;
    for (const JoinRange& join : generate(brick).joins) transforms.insert(join.transform);
    CHECK(transforms.size() >= 5);
    CHECK(transforms.count({1, 2, 3}) == 0);
}

TEST_CASE("a join of nodes that do not match is refused with zones and nodes") {
    BrickGrid brick;
    brick.cells = {8, 8, 1}, brick.wave = 0.05, brick.parts = {2, 1, 1};
    GridSystem system = generate(brick);
    std::swap(system.joins[0].donor_points.begin[1], system.joins[0].donor_points.end[1]);
    system.joins[0].transform = {1, -2, 3};
    CHECK_THROWS_WITH(check_joins(system),
                      "node (5, 1) of zone 1 is joined with node (1, 9) of zone 2, which is another place");
}

TEST_CASE("a plate has its wall from x = 0 on, and is cut there") {
    PlateGrid plate;
    const GridSystem system = cut(generate(plate));
    check_all(system);
    CHECK(zones_of(system) == 2);
    CHECK(cells_named(system, "wall") == plate.cells_along);
    CHECK(cells_named(system, "symmetry") == plate.cells_before);
    CHECK(node(system, 1, {0, 0, 0})[0] == 0);
    CHECK(node(system, 1, {0, 1, 0})[1] == Approx(plate.first));
    CHECK(node(system, 0, {0, 0, 0})[0] == Approx(-1.0 / 3));
    CHECK(system.source->zones()[1].first == Int3{plate.cells_before, 0, 0});
}

TEST_CASE("an O-grid is joined with itself") {
    CylinderGrid cylinder;
    const GridSystem system = cut(generate(cylinder));
    check_all(system);
    CHECK(zones_of(system) == 1);
    CHECK(std::hypot(node(system, 0, {17, 64, 0})[0], node(system, 0, {17, 64, 0})[1]) == Approx(50));
    CHECK(node(system, 0, {0, 1, 0})[0] == Approx(0.51));
}

TEST_CASE("a tube has ends and sides") {
    const GridSystem system = cut(generate(TubeGrid{}));
    check_all(system);
    CHECK(names(system) == std::set<std::string>{"left", "right", "side"});
}

TEST_CASE("sections are NACA's, their trailing edges as asked for") {
    // NACA report 460, table of the 0012: 6.002 % of half thickness at 30 %; 4412: 9.76 % and -2.26 % at 30
    // %.
    CHECK(Section("0012", "blunt").at(std::sqrt(0.3), 1)[1] == Approx(0.06002).epsilon(1e-3));
    CHECK(Section("0012", "blunt").at(1, 1)[1] == Approx(0.00126).epsilon(1e-3));
    CHECK(Section("0012", "sharp").at(1, 1)[1] == 0);
    CHECK(Section("0012", "scaled").at(1, 1)[1] == 0);
    // NASA's polynomial of the scaled section.
    const double x = 0.4,
                 nasa = 0.594689181 * (0.298222773 * std::sqrt(x) - 0.127125232 * x - 0.357907906 * x * x +
                                       0.291984971 * x * x * x - 0.105174606 * x * x * x * x);
    CHECK(Section("0012", "scaled").at(std::sqrt(x), 1)[1] == Approx(nasa).epsilon(1e-8));
    CHECK(Section("4412", "blunt").at(std::sqrt(0.3), 1)[1] == Approx(0.0976).epsilon(0.01));
    CHECK(Section("4412", "blunt").at(std::sqrt(0.3), -1)[1] == Approx(-0.0226).epsilon(0.02));
}

TEST_CASE("C-grids of all sections and trailing edges have good cells and become three zones") {
    for (const std::string naca : {"0012", "4412", "0006", "2424"})
        for (const std::string tail : {"scaled", "sharp", "blunt"})
            for (const double farfield : {20.0, 500.0}) {
                INFO(naca << " " << tail << " " << farfield);
                AirfoilGrid airfoil;
                airfoil.naca = naca, airfoil.tail = tail, airfoil.farfield = farfield;
                const GridSystem system = cut(generate(airfoil));
                check_all(system);
                CHECK(zones_of(system) == (tail == "blunt" ? 4 : 3));
                CHECK(names(system) == std::set<std::string>{"wall", "farfield", "outflow"});
                CHECK(cells_named(system, "wall") == 128 + (tail == "blunt" ? 24 : 0));
                // The first cell above the middle of the upper side.
                const auto low = node(system, 1, {96, 0, 0}), high = node(system, 1, {96, 1, 0});
                CHECK(std::hypot(high[0] - low[0], high[1] - low[1]) == Approx(4e-6).epsilon(1e-3));
            }
}

TEST_CASE("fine C-grids have good cells") {
    AirfoilGrid airfoil;
    airfoil.cells_surface = 512, airfoil.cells_wake = 192, airfoil.cells_out = 256;
    airfoil.first = 1e-6, airfoil.first_nose = 5e-4, airfoil.first_tail = 5e-4;
    check_all(cut(generate(airfoil)));
}

TEST_CASE("C-grids that end near the section have good cells where the wake ends, too") {
    for (const char* tail : {"scaled", "sharp", "blunt"})
        for (const double first : {4e-3, 2e-2}) {
            CAPTURE(tail, first);
            AirfoilGrid airfoil;
            airfoil.tail = tail, airfoil.farfield = 2, airfoil.first = first;
            airfoil.cells_surface = 64, airfoil.cells_wake = 12, airfoil.cells_out = 24;
            check_all(cut(generate(airfoil)));
        }
}

TEST_CASE("lines of a C-grid leave the wall at right angles") {
    AirfoilGrid airfoil;
    const GridSystem system = generate(airfoil);
    const int wake = airfoil.cells_wake;
    double worst = 0;
    for (int i = wake + 1; i < wake + airfoil.cells_surface; ++i) {
        const auto before = node(system, 0, {i - 1, 0, 0}), after = node(system, 0, {i + 1, 0, 0});
        const auto low = node(system, 0, {i, 0, 0}), high = node(system, 0, {i, 4, 0});
        const double t[2] = {after[0] - before[0], after[1] - before[1]},
                     n[2] = {high[0] - low[0], high[1] - low[1]};
        worst = std::max(
            worst, std::abs(t[0] * n[0] + t[1] * n[1]) / (std::hypot(t[0], t[1]) * std::hypot(n[0], n[1])));
    }
    CHECK(worst < 0.03);  // 1.7 degrees
}

TEST_CASE("wings end in a plane, in a rounded tip with a slit beyond, or go on for ever") {
    WingGrid wing;
    wing.section.cells_surface = 32, wing.section.cells_wake = 12, wing.section.cells_out = 20,
    wing.section.first = 1e-3;
    wing.section.first_nose = 0.01, wing.section.first_tail = 0.02, wing.section.farfield = 20;
    wing.cells_span = 6;
    SECTION("a plane") {
        wing.taper = 0.5, wing.sweep = 30, wing.twist = -3;
        const GridSystem system = cut(generate(wing));
        check_all(system);
        CHECK(zones_of(system) == 3);
        CHECK(names(system) == std::set<std::string>{"wall", "farfield", "outflow", "root", "tip"});
        CHECK(cells_named(system, "wall") == 32 * 6);
        // The nose at the tip: chord 0.5, quarter line swept by 30 degrees, nose down by 3.
        const auto nose = node(system, 1, {16, 0, 6});
        CHECK(nose[0] ==
              Approx(0.25 + 3 * std::tan(std::numbers::pi / 6) - 0.125 * std::cos(std::numbers::pi / 60)));
        CHECK(nose[1] == Approx(-0.125 * std::sin(std::numbers::pi / 60)));
    }
    SECTION("a tip") {
        wing.cells_beyond = 5, wing.cells_round = 3, wing.taper = 0.6;
        const GridSystem system = cut(generate(wing));
        check_all(system);
        CHECK(cells_named(system, "wall") == 32 * 6);
        CHECK(names(system) == std::set<std::string>{"wall", "farfield", "outflow", "root"});
    }
    SECTION("none") {
        wing.periodic = true;
        const GridSystem system = cut(generate(wing));
        check_all(system);
        CHECK(names(system) == std::set<std::string>{"wall", "farfield", "outflow"});
    }
}

TEST_CASE("blades lie where the azimuth says, and their cells grow beyond their ends") {
    WingGrid blade;
    blade.is_blade = true, blade.root = 1.2, blade.span = 4.8, blade.pitch = 8;
    blade.section.cells_surface = 64, blade.section.cells_wake = 12, blade.section.cells_out = 24;
    blade.section.first = 0.006, blade.section.first_nose = blade.section.first_tail = 0.004;
    blade.section.farfield = 2.5, blade.section.wake_growth = 1, blade.section.far_equal = 0.7;
    blade.cells_span = 16, blade.cells_beyond = 8, blade.first_tip = 0.02, blade.beyond = 1,
    blade.beyond_growth = 6;
    const GridSystem first = cut(generate(blade));
    check_all(first);  // around the slits' noses, too
    blade.azimuth = 90;
    const GridSystem second = cut(generate(blade));
    for (int zone = 0; zone < zones_of(first); ++zone) {
        const Int3 last = first.source->zones()[static_cast<std::size_t>(zone)].cells;
        const auto a = node(first, zone, last), b = node(second, zone, last);
        CHECK(b[0] == Approx(-a[1]).margin(1e-12));
        CHECK(b[1] == Approx(a[0]).margin(1e-12));
        CHECK(b[2] == Approx(a[2]).margin(1e-12));
    }
    // Where the grid ends, first cells are an equal share of the way out.
    const GridSystem whole = generate(blade);
    const int nose = 12 + 32;
    const auto height = [&](int k) {
        const auto at = node(whole, 0, {nose, 0, k}), above = node(whole, 0, {nose, 1, k});
        return std::hypot(above[0] - at[0], above[1] - at[1], above[2] - at[2]);
    };
    CHECK(height(16) == Approx(0.006).epsilon(0.05));
    CHECK(height(0) == Approx(0.006 * 7).epsilon(0.05));
}

TEST_CASE("a sector of 360 degrees is the whole annulus") {
    SectorGrid grid;
    grid.cells_out = 12, grid.cells_around = 16, grid.cells_along = 14, grid.first = 1;
    grid.degrees = 360, grid.farfield = 20, grid.low = -20, grid.high = 20;
    const GridSystem system = cut(generate(grid));
    check_all(system);
    REQUIRE(system.joins.size() == 1);
    CHECK(system.joins[0].turn == graph::kNoRotation);
    CHECK(node(system, 0, {5, 0, 3}) == node(system, 0, {5, 16, 3}));
    grid.degrees = 240;
    CHECK_THROWS_AS(generate(grid), Error);
}

TEST_CASE("numbers that give no grid are refused by their key") {
    const auto message = [](const Generator& generator) -> std::string {
        try {
            (void)generate(generator);
        } catch (const Error& error) {
            return error.message();
        }
        return "none";
    };
    CHECK(message(AirfoilGrid{.naca = "23012"}) == "no grid can be made with this 'naca'");
    CHECK(message(AirfoilGrid{.naca = "0412"}) == "no grid can be made with this 'naca'");
    CHECK(message(AirfoilGrid{.cells_surface = 33}) == "no grid can be made with this 'cells_surface'");
    CHECK(message(AirfoilGrid{.tail = "round"}) == "no grid can be made with this 'tail'");
    CHECK(message(BrickGrid{.wave = 0.2}) == "no grid can be made with this 'wave'");
    CHECK(message(BrickGrid{.parts = {20, 1, 1}}) == "no grid can be made with this 'cells'");
    CHECK(message(CylinderGrid{.farfield = 0.1}) == "no grid can be made with this 'farfield'");
    CHECK(message(PlateGrid{.first = 0.1}) == "no grid can be made with this 'first'");
    CHECK(message(WingGrid{.section = {}, .sweep = 20, .periodic = true}) ==
          "no grid can be made with this 'periodic'");
}

TEST_CASE("a face without a condition, or with two, is refused with its nodes") {
    GridSystem system = generate(PlateGrid{});
    SECTION("none") {
        std::erase_if(system.boundaries, [](const BoundaryRange& b) { return b.name == "symmetry"; });
        try {
            (void)cut(system);
            FAIL("was not refused");
        } catch (const Error& error) {
            CHECK(error.message() == "a part of faces has neither a boundary nor a join");
            CHECK(error.given() == "j-min of zone 1 (plate), nodes (1, 1) to (13, 1)");
        }
    }
    SECTION("two") {
        for (BoundaryRange& b : system.boundaries)
            if (b.name == "symmetry") b.points.end[0] += 3;
        CHECK_THROWS_WITH(cut(system), "a part of face j-min of zone 1 (plate) is 'symmetry' and 'wall'");
    }
    SECTION("outside") {
        for (BoundaryRange& b : system.boundaries)
            if (b.name == "wall") b.points.end[0] += 1;
        CHECK_THROWS_WITH(cut(system), "boundary 'wall': nodes that are none of zone 1 (plate)");
    }
    SECTION("ranges of one name side by side are one") {
        for (BoundaryRange& b : system.boundaries) b.name = "all";
        CHECK(zones_of(cut(system)) == 1);
        CHECK(cut(system).boundaries.size() == 4);
    }
}

TEST_CASE("cuts of one zone divide the joins of its neighbours") {
    // Two bricks side by side; the upper end of the second one's side is cut in the middle, also across the
    // join.
    BrickGrid brick;
    brick.dimensions = 3, brick.cells = {8, 8, 8}, brick.parts = {2, 1, 1}, brick.turned = true,
    brick.wave = 0.05;
    for (const int zone : {0, 1}) {
        GridSystem system = generate(brick);
        for (BoundaryRange& b : system.boundaries)
            if (b.zone == zone && b.name == "z-max") {
                // Across the axis of the zone along which y runs: it goes on beyond the join.
                Real3 x[2] = {node(system, zone, b.points.begin), {}};
                std::size_t axis = 0;
                for (std::size_t a = 0; a < 3; ++a) {
                    Int3 at = b.points.begin;
                    at[a] = b.points.end[a];
                    x[1] = node(system, zone, at);
                    if (std::abs(x[1][1] - x[0][1]) > 0.5) axis = a;
                }
                BoundaryRange rest = b;
                b.points.end[axis] = 3, rest.points.begin[axis] = 3, rest.name = "hot";
                system.boundaries.push_back(rest);
                break;
            }
        const GridSystem parts = cut(system);
        check_all(parts);
        CHECK(zones_of(parts) == 3);
        CHECK(parts.joins.size() == 3);  // two to the neighbour, one between the parts
        CHECK(parts.notes.size() == 1);
    }
}

TEST_CASE("nodes of a brick that is stretched lie along sinh, its ends where they were") {
    BrickGrid brick;
    brick.cells = {40, 4, 1}, brick.low = {-2, 0, 0}, brick.high = {2, 1, 1}, brick.stretch = 3;
    const GridSystem system = generate(brick);
    std::vector<double> x(2 * 41);
    system.source->nodes(0, {{0, 0, 0}, {41, 1, 1}}, x.data());
    CHECK(x[0] == -2);
    CHECK(x[40] == 2);
    for (std::size_t i = 0; i <= 40; ++i)
        CHECK(x[i] == Approx(2 * std::sinh(3 * (double(i) / 20 - 1)) / std::sinh(3.0)).margin(1e-14));
    brick.stretch = 20;
    CHECK_THROWS_AS(generate(brick), Error);
}
