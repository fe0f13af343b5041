// Face vectors, volumes and centres of curvilinear cells.
#include <numbers>

#include "core/base/error.hpp"
#include "methods/curvilinear/computed.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/grids/flow_grids.hpp"

using namespace strata;
using namespace strata::flow;
using namespace strata::flow::tests;

namespace {

/// A zone with all its metrics.
template <int Dim>
struct Measured {
    Box cells;
    Piece nodes;
    std::vector<Piece> faces;
    Piece volume, centre;

    Measured(const GridSource& source, int zone, bool axisymmetric = false)
        : cells{{0, 0, 0}, source.zones()[static_cast<std::size_t>(zone)].cells},
          nodes(nodes_of(source, zone, cells)),
          volume(cells, 1),
          centre(cells, Dim) {
        const Piece& read = nodes;
        for (int a = 0; a < Dim; ++a) {
            Box faces_box = cells;
            ++faces_box.hi[static_cast<std::size_t>(a)];
            faces.emplace_back(faces_box, Dim);
            if constexpr (Dim == 2)
                if (axisymmetric) {
                    axisymmetric_face_vectors(a, faces_box, read.view(), faces.back().view());
                    continue;
                }
            face_vectors<Dim>(a, faces_box, read.view(), faces.back().view());
        }
        if (axisymmetric)
            axisymmetric_volumes(cells, read.view(), volume.view());
        else
            volumes<Dim>(cells, read.view(), volume.view());
        centres<Dim>(cells, read.view(), centre.view());
    }

    /// The sum of a cell's outward vectors, and the longest of them.
    [[nodiscard]] std::pair<Real3, double> outward(int i, int j, int k) {
        Real3 sum{};
        double longest = 0;
        for (std::size_t a = 0; a < Dim; ++a) {
            Int3 at{i, j, k};
            const auto s = faces[a].view();
            for (const double sign : {-1.0, 1.0}) {
                double square = 0;
                for (int d = 0; d < Dim; ++d) {
                    const double value = s(at[0], at[1], at[2], d);
                    sum[static_cast<std::size_t>(d)] += sign * value, square += value * value;
                }
                longest = std::max(longest, std::sqrt(square));
                ++at[a];
            }
        }
        return {sum, longest};
    }
    [[nodiscard]] double worst_gap() {
        double worst = 0;
        graph::for_each(cells, [&](int i, int j, int k) {
            const auto [sum, longest] = outward(i, j, k);
            worst = std::max(worst, distance(sum) / longest);
        });
        return worst;
    }
    static double distance(const Real3& x) { return std::sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]); }
    [[nodiscard]] double all_volume() {
        double sum = 0;
        graph::for_each(cells, [&](int i, int j, int k) { sum += volume.view()(i, j, k); });
        return sum;
    }
};

/// The volume of a trilinear cell by Gauss's rule, which is exact for its determinant.
double by_gauss(const Piece& nodes, int i, int j, int k) {
    const double place[2] = {0.5 - std::sqrt(3.0) / 6, 0.5 + std::sqrt(3.0) / 6};
    double sum = 0;
    for (const double u : place)
        for (const double v : place)
            for (const double w : place) {
                Real3 tangent[3]{};
                for (int n = 0; n < 8; ++n) {
                    const int b[3] = {n & 1, n >> 1 & 1, n >> 2};
                    const double share[3] = {b[0] != 0 ? u : 1 - u, b[1] != 0 ? v : 1 - v,
                                             b[2] != 0 ? w : 1 - w};
                    for (std::size_t d = 0; d < 3; ++d)
                        for (int a = 0; a < 3; ++a) {
                            double slope = b[a] != 0 ? 1 : -1;
                            for (int o = 0; o < 3; ++o)
                                if (o != a) slope *= share[o];
                            tangent[a][d] +=
                                slope * nodes.view()(i + b[0], j + b[1], k + b[2], static_cast<int>(d));
                        }
                }
                sum += metrics::triple(tangent[0], tangent[1], tangent[2]) / 8;
            }
    return sum;
}

}  // namespace

TEST_CASE("face vectors of a cell add up to nothing on wavy grids") {
    BrickGrid brick;
    brick.cells = {17, 13, 1}, brick.wave = 0.07, brick.high = {3, 2, 1};
    CHECK(Measured<2>(*generate(brick).source, 0).worst_gap() < 1e-13);
    brick.dimensions = 3, brick.cells = {9, 8, 11};
    CHECK(Measured<3>(*generate(brick).source, 0).worst_gap() < 1e-13);
}

TEST_CASE("face vectors of a cell add up to nothing on a C-grid with far field at 500 chords") {
    AirfoilGrid airfoil;
    CHECK(Measured<2>(*generate(airfoil).source, 0).worst_gap() < 1e-13);
}

TEST_CASE("face vectors point up the index and are as long as the face") {
    BrickGrid brick;
    brick.dimensions = 3, brick.cells = {2, 4, 5}, brick.high = {2, 2, 10};
    Measured<3> m(*generate(brick).source, 0);
    CHECK(m.faces[0].view()(1, 1, 1, 0) == Approx(0.5 * 2));
    CHECK(m.faces[1].view()(1, 1, 1, 1) == Approx(1 * 2));
    CHECK(m.faces[2].view()(1, 1, 1, 2) == Approx(1 * 0.5));
    CHECK(m.faces[0].view()(1, 1, 1, 1) == Approx(0).margin(1e-15));
    brick.dimensions = 2;
    Measured<2> plane(*generate(brick).source, 0);
    CHECK(plane.faces[0].view()(1, 1, 0, 0) == Approx(0.5));
    CHECK(plane.faces[1].view()(1, 1, 0, 1) == Approx(1));
}

TEST_CASE("volumes are those of trilinear cells and fill the box") {
    BrickGrid brick;
    brick.dimensions = 3, brick.cells = {6, 5, 7}, brick.wave = 0.07, brick.high = {1, 2, 3};
    Measured<3> m(*generate(brick).source, 0);
    CHECK(m.all_volume() == Approx(6).epsilon(1e-14));
    double worst = 0;
    graph::for_each(m.cells, [&](int i, int j, int k) {
        const double exact = by_gauss(m.nodes, i, j, k);
        worst = std::max(worst, std::abs(m.volume.view()(i, j, k) / exact - 1));
    });
    CHECK(worst < 1e-13);
    brick.dimensions = 2;
    CHECK(Measured<2>(*generate(brick).source, 0).all_volume() == Approx(2).epsilon(1e-14));
}

TEST_CASE("turned zones have the same cells") {
    BrickGrid brick;
    brick.dimensions = 3, brick.cells = {6, 6, 6}, brick.wave = 0.05;
    const double whole = Measured<3>(*generate(brick).source, 0).all_volume();
    brick.parts = {2, 3, 2}, brick.turned = true;
    const GridSystem system = generate(brick);
    double sum = 0;
    for (int z = 0; z < zones_of(system); ++z) {
        Measured<3> m(*system.source, z);
        CHECK(m.worst_gap() < 1e-13);
        sum += m.all_volume();
    }
    CHECK(sum == Approx(whole).epsilon(1e-14));
}

TEST_CASE("the centre of a cell is the mean of its corners") {
    BrickGrid brick;
    brick.cells = {4, 2, 1}, brick.high = {4, 4, 1};
    Measured<2> m(*generate(brick).source, 0);
    CHECK(m.centre.view()(2, 1, 0, 0) == 2.5);
    CHECK(m.centre.view()(2, 1, 0, 1) == 3);
    brick.dimensions = 3, brick.cells = {4, 2, 2};
    Measured<3> solid(*generate(brick).source, 0);
    CHECK(solid.centre.view()(2, 1, 1, 2) == 0.75);
}

TEST_CASE("axisymmetric cells are closed but for their plane sides, and fill a cone") {
    // x from 0 to 2, radius from 0 to 1 + x / 2, with inner nodes moved.
    const int n = 12;
    const auto at = [](int, const Int3& node) {
        const double u = node[0] / 12.0, v = node[1] / 12.0;
        const double wave = 0.02 * std::sin(2 * std::numbers::pi * u) * std::sin(2 * std::numbers::pi * v);
        const double x = 2 * u + wave;
        return Real3{x, v * (1 + x / 2), 0};
    };
    const ComputedGrid grid(2, {{.name = "cone", .cells = {n, n, 1}}}, at);
    Measured<2> m(grid, 0, true);
    Piece area(m.cells, 1);
    const Piece& nodes = m.nodes;
    plane_areas(m.cells, nodes.view(), area.view());
    double worst = 0;
    graph::for_each(m.cells, [&](int i, int j, int k) {
        const auto [sum, longest] = m.outward(i, j, k);
        worst =
            std::max({worst, std::abs(sum[0]) / longest, std::abs(sum[1] - area.view()(i, j, k)) / longest});
    });
    CHECK(worst < 1e-13);
    // pi / 3 h (R^2 + R r + r^2), for one radian.
    CHECK(m.all_volume() == Approx(2 * (4 + 2 + 1) / 6.0).epsilon(1e-13));
    CHECK(m.faces[1].view()(3, 0, 0, 1) == 0);  // on the axis
}

TEST_CASE("a cell without positive volume is refused with its zone and index") {
    const auto at = [](int, const Int3& node) {
        // Node (3, 2) is moved beyond the next one.
        return Real3{node[0] + (node[0] == 3 && node[1] == 2 ? 2.5 : 0), static_cast<double>(node[1]), 0};
    };
    const ComputedGrid grid(
        2, {{.name = "good", .cells = {2, 2, 1}}, {.name = "bad", .cells = {8, 8, 1}, .origin = 1}}, at);
    check_cells(grid, 0, {{0, 0, 0}, {2, 2, 1}});
    try {
        check_cells(grid, 1, {{0, 0, 0}, {8, 8, 1}});
        FAIL("was not refused");
    } catch (const Error& error) {
        CHECK(error.message() == "cell (4, 2) of zone 2 (bad) has no positive volume");
        CHECK(error.given().find("lowest corner at (3, 1)") != std::string::npos);
    }
    const ComputedGrid holed(2, {{.name = "nan", .cells = {2, 2, 1}}}, [](int, const Int3& node) {
        return Real3{node[0] == 1 ? NAN : node[0], static_cast<double>(node[1]), 0};
    });
    CHECK_THROWS_WITH(check_cells(holed, 0, {{0, 0, 0}, {2, 2, 1}}),
                      "a coordinate of node (2, 1) of zone 1 (nan) is no number");
}
