// Coarser grids of a family.
#include "methods/curvilinear/coarsen.hpp"

#include <map>
#include <string>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/grids/flow_grids.hpp"

using namespace strata;
using namespace strata::flow;
using namespace strata::flow::tests;

namespace {

/// The largest distance of a node from the fine one that it should be.
double off(const GridSystem& fine, const GridSystem& coarse, int factor) {
    double most = 0;
    for (int z = 0; z < zones_of(coarse); ++z) {
        const Box all = coarse.source->node_box(z);
        const std::int64_t count = all.volume();
        std::vector<double> x(static_cast<std::size_t>(count) * 3), y(3);
        coarse.source->nodes(z, all, x.data());
        std::int64_t n = 0;
        graph::for_each(all, [&](int i, int j, int k) {
            const Int3 at{factor * i, factor * j, coarse.dimensions == 3 ? factor * k : k};
            fine.source->nodes(z, {at, {at[0] + 1, at[1] + 1, at[2] + 1}}, y.data());
            for (int d = 0; d < coarse.dimensions; ++d)
                most = std::max(most, std::abs(x[static_cast<std::size_t>(d * count + n)] -
                                               y[static_cast<std::size_t>(d)]));
            ++n;
        });
    }
    return most;
}

}  // namespace

TEST_CASE("a coarser grid has every second or fourth node, and joins that match") {
    AirfoilGrid airfoil;
    airfoil.cells_surface = 64, airfoil.cells_wake = 16, airfoil.cells_out = 64;
    airfoil.farfield = 20;
    const GridSystem c_grid = cut(generate(airfoil));
    BrickGrid brick;
    brick.dimensions = 3;
    brick.cells = {16, 8, 8};
    brick.wave = 0.02;
    brick.parts = {2, 1, 1};
    brick.turned = true;
    const GridSystem bricks = cut(generate(brick));
    for (const GridSystem* fine : {&c_grid, &bricks})
        for (const int factor : {2, 4}) {
            // Of the airfoil every fourth node is too few for cells at its nose.
            if (fine == &c_grid && factor == 4) continue;
            const GridSystem coarse = coarsened(*fine, factor);
            CHECK(off(*fine, coarse, factor) == 0);
            CHECK(coarse.boundaries.size() == fine->boundaries.size());
            check_all(coarse);
        }
}

TEST_CASE("zones are cut so that they are no longer than they may be") {
    AirfoilGrid airfoil;
    airfoil.cells_surface = 64, airfoil.cells_wake = 24, airfoil.cells_out = 112;
    airfoil.farfield = 20;
    const Int3 most{20, 40, 0};
    const GridSystem whole = cut(generate(airfoil)), parts = cut(generate(airfoil), most);
    CHECK(whole.source->zones().size() == 3);
    // 24, 64 and 24 cells along: 2, 4 and 2 parts; 112 outwards: 3, of 32 or 40 cells.
    CHECK(parts.source->zones().size() == 8 * 3);
    std::int64_t cells = 0;
    for (const ZoneShape& zone : parts.source->zones()) {
        cells += std::int64_t{zone.cells[0]} * zone.cells[1];
        for (std::size_t a = 0; a < 2; ++a) {
            CHECK(zone.cells[a] <= most[a]);
            CHECK(zone.cells[a] % 8 == 0);
        }
    }
    CHECK(cells == (64 + 2 * 24) * 112);
    check_all(parts);
    check_all(coarsened(parts, 2));
    const auto faces = [](const GridSystem& grid) {
        std::map<std::string, int> all;
        for (const BoundaryRange& b : grid.boundaries)
            all[b.name] += (b.points.end[0] - b.points.begin[0]) + (b.points.end[1] - b.points.begin[1]);
        return all;
    };
    CHECK(faces(parts) == faces(whole));
}

TEST_CASE("cells that are no multiple are refused with zone and axis") {
    BrickGrid brick;
    brick.cells = {16, 10, 1};
    try {
        (void)coarsened(cut(generate(brick)), 4);
        FAIL("accepted");
    } catch (const Error& error) {
        CHECK(error.given().find("10 cells along j of zone 1") != std::string::npos);
    }
}
