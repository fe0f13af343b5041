// Cuts through a flow: whole, exact for linear functions, and where they should be.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "methods/curvilinear/generate.hpp"
#include "methods/curvilinear/piece.hpp"
#include "solvers/flow/output/node_means.hpp"
#include "solvers/flow/output/slice_reach.hpp"
#include "solvers/flow/output/slices.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::flow;

namespace {

/// A wavy brick of 1 x 2 (x 3), with a state at nodes whose density and momentum are linear.
template <int Dim>
struct Brick {
    GridSystem system;
    Box cells;
    Piece nodes, values;

    static GridSystem made() {
        BrickGrid brick;
        brick.dimensions = Dim, brick.cells = {7, 6, Dim == 3 ? 5 : 1}, brick.wave = 0.05;
        brick.high = {1, 2, 3};
        return generate(brick);
    }
    Brick()
        : system(made()),
          cells{{0, 0, 0}, system.source->zones()[0].cells},
          nodes(nodes_of(*system.source, 0, cells)),
          values(nodes.view().box(), Dim + 2) {
        const auto q = values.view();
        const auto x = std::as_const(nodes).view();
        graph::for_each(x.box(), [&](int i, int j, int k) {
            Real3 at{};
            for (std::size_t d = 0; d < Dim; ++d) at[d] = x(i, j, k, static_cast<int>(d));
            q(i, j, k, 0) = density(at);
            for (int d = 0; d < Dim; ++d) q(i, j, k, 1 + d) = 0;
            q(i, j, k, Dim + 1) = 2.5;
        });
    }
    static double density(const Real3& x) { return 1 + 0.3 * x[0] - 0.2 * x[1] + 0.1 * x[2]; }
    [[nodiscard]] SlicePieces cut(const Slice& slice) const {
        return cut_cells<Dim>(slice, cells, nodes.view(), values.view(), 1.4);
    }
    /// With a vorticity and a Q that are linear, too.
    [[nodiscard]] SlicePieces cut_turning(const Slice& slice) const {
        constexpr int kNumbers = Dim == 3 ? 4 : 2;
        Piece made(nodes.view().box(), kNumbers);
        const auto v = made.view();
        const auto x = nodes.view();
        graph::for_each(x.box(), [&](int i, int j, int k) {
            for (int c = 0; c + 1 < kNumbers; ++c) v(i, j, k, c) = x(i, j, k, 0) + c;
            v(i, j, k, kNumbers - 1) = 2 * x(i, j, k, 1) - 1;
        });
        return cut_cells<Dim>(slice, cells, x, values.view(), 1.4, {}, std::as_const(made).view());
    }
};

double area(const std::vector<SliceRow>& rows) {
    return std::accumulate(rows.begin(), rows.end(), 0.0,
                           [](double sum, const SliceRow& row) { return sum + row.size; });
}

/// The polygons together, by triangles from the first corner of each; in two dimensions the lines.
double area(const SliceSurface& surface) {
    double sum = 0;
    std::int64_t first = 0;
    for (const std::int64_t end : surface.ends) {
        const auto at = [&](std::int64_t n) {
            const std::int64_t point = surface.corners.at(static_cast<std::size_t>(first + n));
            return surface.points.at(static_cast<std::size_t>(point));
        };
        const auto to = [&](std::int64_t n) {
            Real3 x = at(n);
            for (std::size_t d = 0; d < 3; ++d) x[d] -= at(0)[d];
            return x;
        };
        if (end - first == 2) sum += std::hypot(to(1)[0], to(1)[1], to(1)[2]);
        for (std::int64_t n = 2; n < end - first; ++n) {
            const Real3 a = to(n - 1), b = to(n);
            sum += 0.5 * std::hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                    a[0] * b[1] - a[1] * b[0]);
        }
        first = end;
    }
    return sum;
}
/// Edges of polygons that one polygon alone has: those around a surface whose polygons share their points.
std::size_t open_edges(const SliceSurface& surface) {
    std::map<std::pair<std::int64_t, std::int64_t>, int> edges;
    std::size_t first = 0;
    for (const std::int64_t last : surface.ends) {
        const auto end = static_cast<std::size_t>(last);
        for (std::size_t n = first; n < end; ++n) {
            const std::int64_t a = surface.corners[n], b = surface.corners[n + 1 < end ? n + 1 : first];
            ++edges[std::minmax(a, b)];
        }
        first = end;
    }
    return static_cast<std::size_t>(
        std::count_if(edges.begin(), edges.end(), [](const auto& edge) { return edge.second == 1; }));
}

}  // namespace

TEMPLATE_TEST_CASE_SIG("planes cut a wavy brick wholly, and values are those of linear functions", "",
                       ((int Dim), Dim), 2, 3) {
    const Brick<Dim> brick;
    const double across = Dim == 3 ? 3 : 1;
    const std::array<double, 3> areas{2 * across, across, 2};
    for (int axis = 0; axis < Dim; ++axis)
        for (const double place : {0.31, 0.5, 0.77}) {
            const Slice plane{.axis = axis, .place = place};
            const auto [rows, surface] = brick.cut(plane);
            CAPTURE(axis, place, rows.size());
            CHECK(area(rows) == Approx(areas[static_cast<std::size_t>(axis)]).epsilon(1e-12));
            for (const SliceRow& row : rows) {
                CHECK(row.x[static_cast<std::size_t>(axis)] == Approx(place).epsilon(1e-12));
                CHECK(row.values[0] == Approx(Brick<Dim>::density(row.x)).epsilon(1e-12));
                CHECK(row.values[4] == Approx(1).epsilon(1e-12));  // 0.4 times 2.5
            }
            CHECK(area(surface) == Approx(area(rows)).epsilon(1e-12));
            REQUIRE(surface.values.size() == surface.points.size());
            REQUIRE(surface.cells.size() == surface.ends.size());
            for (std::size_t n = 0; n < surface.points.size(); ++n)
                CHECK(surface.values[n][0] == Approx(Brick<Dim>::density(surface.points[n])).epsilon(1e-12));
            // Neighbours share their points: a line of cells has one more of them, and a surface has edges of
            // its own around it alone, two of each cell there.
            if (Dim == 2)
                CHECK(surface.points.size() == surface.ends.size() + 1);
            else
                CHECK(open_edges(surface) < 4 * (7 + 6 + 5));
        }
    // In a plane of nodes each piece is there once: the faces of the cells on one side.
    CHECK(area(brick.cut({.axis = 0, .place = 1}).rows) == Approx(areas[0]).epsilon(1e-12));
    for (const double place : {1.01, -0.01}) {
        const auto [rows, surface] = brick.cut({.axis = 0, .place = place});
        CHECK((rows.empty() && surface.points.empty() && surface.ends.empty()));
    }
}

TEMPLATE_TEST_CASE_SIG("surfaces of Q are where it has the value, with the vorticity there", "",
                       ((int Dim), Dim), 2, 3) {
    const Brick<Dim> brick;
    const auto [rows, surface] =
        brick.cut_turning({.kind = Slice::Kind::criterion, .place = 0.5});  // y = 0.75
    CHECK(area(rows) == Approx(Dim == 3 ? 3 : 1).epsilon(1e-12));
    for (const SliceRow& row : rows) {
        CHECK(row.x[1] == Approx(0.75).epsilon(1e-12));
        CHECK(row.values[8] == Approx(0.5).epsilon(1e-12));
        CHECK(row.values[7] == Approx(row.x[0] + (Dim == 3 ? 2 : 0)).epsilon(1e-12));
        CHECK(row.values[5] == Approx(Dim == 3 ? row.x[0] : 0).margin(1e-12));
    }
    for (const SliceRow& row : brick.cut({.axis = 0, .place = 0.31}).rows) CHECK(row.values[8] == 0);
    CHECK(area(surface) == Approx(area(rows)).epsilon(1e-12));
    for (const SliceValues& values : surface.values) CHECK(values[8] == Approx(0.5).epsilon(1e-12));
}

TEST_CASE("half planes through an axis end there") {
    const Brick<3> brick;  // 1 x 2 x 3
    const Real3 middle{0.52, 1.02, 0};
    const Slice half{.kind = Slice::Kind::azimuth, .axis = 2, .place = 180, .centre = middle};
    // Behind the axis: 0.52 times 3. Cells that the axis goes through count where their middle is.
    CHECK(area(brick.cut(half).rows) == Approx(0.52 * 3).margin(0.1 * 3));
    const auto whole =
        area(brick.cut(half).rows) +
        area(brick.cut({.kind = Slice::Kind::azimuth, .axis = 2, .place = 0, .centre = middle}).rows);
    CHECK(whole == Approx(3).epsilon(1e-12));
    // About x the angle is from y to z.
    for (const SliceRow& row :
         brick.cut({.kind = Slice::Kind::azimuth, .axis = 0, .place = 30, .centre = {0, 0.5, 0.5}}).rows) {
        CHECK(row.x[2] - 0.5 == Approx((row.x[1] - 0.5) * std::tan(std::numbers::pi / 6)).margin(1e-12));
        CHECK(row.x[1] >= 0.5 - 2.0 / 6);  // a cell across the axis
    }
}

TEST_CASE("a cut is within the grid, an angle by full turns away; at the ends of a sector it is whole") {
    SectorGrid sector{.cells_out = 12, .cells_around = 10, .cells_along = 14, .degrees = 120};
    sector.hub = 0.5, sector.farfield = 8, sector.low = -3, sector.high = 4;
    sector.core = 2, sector.core_low = -1, sector.core_high = 1, sector.first = 0.4;
    const GridSystem third = generate(sector);
    Slice half{.kind = Slice::Kind::azimuth, .axis = 2, .place = 310};
    CHECK(is_sector(third));
    Reaches turned(third);
    const std::vector<Reach>& all = turned.of(half);
    REQUIRE(all.size() == 1);
    CHECK((all[0].low == Approx(-60) && all[0].high == Approx(60)));
    CHECK(within(half, all) == Approx(-50));
    for (const double outside : {61.0, 180.0, -61.0}) {
        half.place = outside;
        CHECK_FALSE(within(half, all));
    }
    const Box cells{{0, 0, 0}, third.source->zones()[0].cells};
    const Piece nodes = nodes_of(*third.source, 0, cells), values(nodes.view().box(), 5);
    for (const double end : {-60.0, 60.0, 300.0}) {
        half.place = end, half.place = within(half, all).value();
        CHECK(area(cut_cells<3>(half, cells, nodes.view(), values.view(), 1.4).rows) ==
              Approx(7.5 * 7).epsilon(1e-6));
    }

    SECTION("all around") {
        sector.degrees = 360;
        const GridSystem whole = generate(sector);
        CHECK_FALSE(is_sector(whole));
        half.place = 250;
        CHECK(within(half, Reaches(whole).of(half)) == 250);
    }
    SECTION("a brick with the axis in it, beside it, and planes") {
        const Brick<3> brick;           // 1 x 2 x 3
        Reaches reaches(brick.system);  // all from the nodes that the first ones have read
        half.centre = {0.52, 1.02, 0};
        for (const double place : {0.0, 100.0, 200.0, 300.0}) {
            half.place = place;
            CHECK(within(half, reaches.of(half)));
        }
        half.centre = {-1, 1, 0};  // corners at 45 degrees
        half.place = 44;
        CHECK(within(half, reaches.of(half)));
        half.place = 46;
        CHECK_FALSE(within(half, reaches.of(half)));
        half.centre = {2, 1, 0};  // the brick lies where angles change their sign
        half.place = -170;
        CHECK(within(half, reaches.of(half)) == Approx(-170));
        half.place = -130;
        CHECK_FALSE(within(half, reaches.of(half)));
        Slice plane{.axis = 1, .place = 2};
        CHECK(within(plane, reaches.of(plane)) == 2);
        plane.place = 2.01;
        CHECK_FALSE(within(plane, reaches.of(plane)));
        plane.axis = 2, plane.place = 3;
        CHECK(within(plane, reaches.of(plane)) == 3);
        const Brick<2> flat;
        plane.axis = 1;
        CHECK(Reaches(flat.system).of(plane)[0].high == 2);
    }
    SECTION("zones that touch") {
        const GridSystem two = generate(BrickGrid{.cells = {8, 4, 1}, .parts = {2, 1, 1}, .turned = true});
        REQUIRE(two.source->zones().size() == 2);
        Reaches reaches(two);
        const std::vector<Reach>& one = reaches.of(Slice{.place = 0.5});
        REQUIRE(one.size() == 1);
        CHECK((one[0].low == 0 && one[0].high == 1));
    }
}

TEST_CASE("surfaces of one index are its faces, at either end of a zone") {
    const Brick<3> brick;
    const auto faces = [&](int axis, int node, bool last) {
        return index_faces<3>(axis, node, last, brick.cells, brick.nodes.view(), brick.values.view(), 1.4);
    };
    CHECK(area(faces(0, 0, false).rows) == Approx(6).epsilon(1e-12));
    CHECK(area(faces(0, 7, true).rows) == Approx(6).epsilon(1e-12));
    CHECK(faces(0, 7, false).rows.empty());  // the cells above belong to nobody here
    const auto [middle, surface] = faces(1, 3, false);
    CHECK(surface.ends.size() == 35);
    CHECK(surface.points.size() == 8 * 6);
    CHECK(open_edges(surface) == 2 * (7 + 5));
    CHECK(area(surface) == Approx(area(middle)).epsilon(1e-2));  // faces are bent
    REQUIRE(middle.size() == 35);
    for (const SliceRow& row : middle) {
        CHECK(row.cell[1] == 3);
        CHECK(row.x[1] == Approx(1).margin(0.2));
        CHECK(row.values[0] == Approx(Brick<3>::density(row.x)).epsilon(1e-12));
    }
}

TEST_CASE("cells that are holes are in no row and no polygon") {
    const Brick<3> brick;
    const IsCut is_cut = [](const Int3& cell) { return cell[1] != 2; };
    for (const auto& [rows, surface] :
         {cut_cells<3>({.axis = 0, .place = 0.4}, brick.cells, brick.nodes.view(), brick.values.view(), 1.4,
                       is_cut),
          index_faces<3>(0, 3, false, brick.cells, brick.nodes.view(), brick.values.view(), 1.4, is_cut)}) {
        REQUIRE(!rows.empty());
        CHECK(std::none_of(rows.begin(), rows.end(), [](const SliceRow& row) { return row.cell[1] == 2; }));
        CHECK(std::all_of(surface.cells.begin(), surface.cells.end(), is_cut));
        CHECK(area(surface) == Approx(area(rows)).epsilon(1e-2));
    }
}

TEST_CASE("slices are told by a plane or an index, and what is none is refused") {
    const Slice plane = slice_of("y = -0.25", 2), surface = slice_of("3: k = 12", 3);
    CHECK((plane.axis == 1 && plane.place == -0.25 && plane.zone == -1 && plane.name == "y--0.25"));
    CHECK((surface.axis == 2 && surface.zone == 2 && surface.node == 11));
    CHECK(surface.name == "zone-3-k-12");
    const Slice half = slice_of("azimuth = -60", 3), tube = slice_of(" Q = 0.02", 2);
    CHECK((half.kind == Slice::Kind::azimuth && half.place == -60 && half.name == "azimuth--60"));
    CHECK((tube.kind == Slice::Kind::criterion && tube.place == 0.02 && tube.name == "q-0.02"));
    for (const char* text : {"z = 1", "k = 3", "1: k = 1", "x", "x = one", "0: i = 1", "1: i = 2.5",
                             "x = 1 2", "azimuth = 60", "Q = ", "q = 1"})
        CHECK_THROWS_AS(slice_of(text, 2), Error);
}

TEMPLATE_TEST_CASE_SIG("values at nodes are means of the cells that are there and no holes", "",
                       ((int Dim), Dim), 2, 3) {
    constexpr int kDeep = Dim == 3 ? 4 : 1, kBeyond = Dim == 3 ? 1 : 0;
    const Box box{{-1, -1, -kBeyond}, {6, 5, kDeep + kBeyond}};
    Piece cells(box, 2);
    const auto q = cells.view();
    graph::for_each(box, [&](int i, int j, int k) {
        for (int c = 0; c < 2; ++c) q(i, j, k, c) = std::sin(i + 2.3 * j + 5.1 * k + c);
        // No cell lies beyond an edge of the grid.
        if (i < 0 && j < 0) q(i, j, k, 1) = std::numeric_limits<double>::quiet_NaN();
    });
    const auto is_hole = [](const Int3& at) { return at[1] == 2 && at[0] > 1; };
    const auto seen = std::as_const(cells).view();
    // A node has a cell fewer around it than the box at its upper ends.
    const Box nodes{{0, 0, 0}, {7, 6, Dim == 3 ? kDeep + 1 : 1}};
    std::array<std::vector<double>, 2> found;
    for (auto& values : found) values.resize(static_cast<std::size_t>(nodes.volume()));
    node_means<Dim>(
        nodes, std::array<CellValues, 1>{{{seen, 2}}}, 1, [](int j, int) { return j == 2; },
        [&](const Int3& at) { return !is_hole(at); },
        [&](int c) { return found[static_cast<std::size_t>(c)].data(); });
    std::size_t n = 0;
    graph::for_each(nodes, [&](int i, int j, int k) {
        for (int c = 0; c < 2; ++c) {
            double sum = 0;
            int count = 0;
            for (const bool holes : {false, true}) {
                if (count > 0) break;
                graph::for_each({{i - 1, j - 1, k - kBeyond}, {i + 1, j + 1, k + 1}},
                                [&](int a, int b, int d) {
                                    if (!box.contains(Int3{a, b, d}) || std::isnan(seen(a, b, d, 1))) return;
                                    if (!holes && is_hole({a, b, d})) return;
                                    sum += seen(a, b, d, c), ++count;
                                });
            }
            CHECK(found[static_cast<std::size_t>(c)][n] == sum / count);
        }
        ++n;
    });
}
