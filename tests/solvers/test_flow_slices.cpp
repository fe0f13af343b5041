// Cuts through a flow: whole, exact for linear functions, and where they should be.
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "solvers/flow/grid/generate.hpp"
#include "solvers/flow/grid/piece.hpp"
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
    [[nodiscard]] std::vector<SliceRow> cut(const Slice& slice) const {
        return cut_cells<Dim>(slice, cells, nodes.view(), values.view(), 1.4);
    }
    /// With a vorticity and a Q that are linear, too.
    [[nodiscard]] std::vector<SliceRow> cut_turning(const Slice& slice) const {
        constexpr int kNumbers = Dim == 3 ? 4 : 2;
        Piece made(nodes.view().box(), kNumbers);
        const auto v = made.view();
        const auto x = nodes.view();
        graph::for_each(x.box(), [&](int i, int j, int k) {
            for (int c = 0; c + 1 < kNumbers; ++c) v(i, j, k, c) = x(i, j, k, 0) + c;
            v(i, j, k, kNumbers - 1) = 2 * x(i, j, k, 1) - 1;
        });
        return cut_cells<Dim>(slice, cells, x, values.view(), 1.4, std::as_const(made).view());
    }
};

double area(const std::vector<SliceRow>& rows) {
    return std::accumulate(rows.begin(), rows.end(), 0.0,
                           [](double sum, const SliceRow& row) { return sum + row.size; });
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
            const auto rows = brick.cut(plane);
            CAPTURE(axis, place, rows.size());
            CHECK(area(rows) == Approx(areas[static_cast<std::size_t>(axis)]).epsilon(1e-12));
            for (const SliceRow& row : rows) {
                CHECK(row.x[static_cast<std::size_t>(axis)] == Approx(place).epsilon(1e-12));
                CHECK(row.values[0] == Approx(Brick<Dim>::density(row.x)).epsilon(1e-12));
                CHECK(row.values[4] == Approx(1).epsilon(1e-12));  // 0.4 times 2.5
            }
        }
    // In a plane of nodes each piece is there once: the faces of the cells on one side.
    CHECK(area(brick.cut({.axis = 0, .place = 1})) == Approx(areas[0]).epsilon(1e-12));
    CHECK(brick.cut({.axis = 0, .place = 1.01}).empty());
    CHECK(brick.cut({.axis = 0, .place = -0.01}).empty());
}

TEMPLATE_TEST_CASE_SIG("surfaces of Q are where it has the value, with the vorticity there", "",
                       ((int Dim), Dim), 2, 3) {
    const Brick<Dim> brick;
    const auto rows = brick.cut_turning({.kind = Slice::Kind::criterion, .place = 0.5});  // y = 0.75
    CHECK(area(rows) == Approx(Dim == 3 ? 3 : 1).epsilon(1e-12));
    for (const SliceRow& row : rows) {
        CHECK(row.x[1] == Approx(0.75).epsilon(1e-12));
        CHECK(row.values[8] == Approx(0.5).epsilon(1e-12));
        CHECK(row.values[7] == Approx(row.x[0] + (Dim == 3 ? 2 : 0)).epsilon(1e-12));
        CHECK(row.values[5] == Approx(Dim == 3 ? row.x[0] : 0).margin(1e-12));
    }
    for (const SliceRow& row : brick.cut({.axis = 0, .place = 0.31})) CHECK(row.values[8] == 0);
}

TEST_CASE("half planes through an axis end there") {
    const Brick<3> brick;  // 1 x 2 x 3
    const Real3 middle{0.52, 1.02, 0};
    const Slice half{.kind = Slice::Kind::azimuth, .axis = 2, .place = 180, .centre = middle};
    // Behind the axis: 0.52 times 3. Cells that the axis goes through count where the middle of their piece
    // is.
    CHECK(area(brick.cut(half)) == Approx(0.52 * 3).margin(0.1 * 3));
    const auto whole =
        area(brick.cut(half)) +
        area(brick.cut({.kind = Slice::Kind::azimuth, .axis = 2, .place = 0, .centre = middle}));
    CHECK(whole == Approx(3).epsilon(1e-12));
    // About x the angle is from y to z.
    for (const SliceRow& row :
         brick.cut({.kind = Slice::Kind::azimuth, .axis = 0, .place = 30, .centre = {0, 0.5, 0.5}})) {
        CHECK(row.x[2] - 0.5 == Approx((row.x[1] - 0.5) * std::tan(std::numbers::pi / 6)).margin(1e-12));
        CHECK(row.x[1] >= 0.5);
    }
}

TEST_CASE("surfaces of one index are its faces, at either end of a zone") {
    const Brick<3> brick;
    const auto faces = [&](int axis, int node, bool last) {
        return index_faces<3>(axis, node, last, brick.cells, brick.nodes.view(), brick.values.view(), 1.4);
    };
    CHECK(area(faces(0, 0, false)) == Approx(6).epsilon(1e-12));
    CHECK(area(faces(0, 7, true)) == Approx(6).epsilon(1e-12));
    CHECK(faces(0, 7, false).empty());  // the cells above belong to nobody here
    const auto middle = faces(1, 3, false);
    REQUIRE(middle.size() == 35);
    for (const SliceRow& row : middle) {
        CHECK(row.cell[1] == 3);
        CHECK(row.x[1] == Approx(1).margin(0.2));
        CHECK(row.values[0] == Approx(Brick<3>::density(row.x)).epsilon(1e-12));
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
