// Zones: how wide they are, who is next to whom, how they are shared out, what they exchange.
#include <algorithm>
#include <numeric>
#include <vector>

#include "benchmarks/npb/common/openmp_group.hpp"
#include "benchmarks/npb/mz/mesh.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::npb;
using mz::Kind;
using mz::Zones;

TEST_CASE("zones cover the whole, in every class") {
    for (const Kind kind : {Kind::bt, Kind::sp, Kind::lu})
        for (const char letter : kClasses) {
            const Zones zones = mz::zones_of(kind, static_cast<Class>(kClasses.find(letter)));
            CHECK(std::accumulate(zones.widths.begin(), zones.widths.end(), std::int64_t{0}) ==
                  zones.points[0]);
            CHECK(std::accumulate(zones.depths.begin(), zones.depths.end(), std::int64_t{0}) ==
                  zones.points[1]);
            // Rounding may take a point from a zone, and give it to the one before.
            for (std::size_t i = 1; i < zones.widths.size(); ++i)
                CHECK(zones.widths[i] >= zones.widths[i - 1] - 1);
        }
}

TEST_CASE("BT's zones grow by the published ratios, the others' are alike") {
    // Class S: a ratio of 3 in each direction; class A: 4.5, so about 20 in points (NAS-03-010, section 3).
    CHECK(mz::zones_of(Kind::bt, Class::S).widths == std::vector<std::int64_t>{6, 18});
    const Zones a = mz::zones_of(Kind::bt, Class::A);
    CHECK(a.count() == 16);
    CHECK(a.widths == std::vector<std::int64_t>{13, 21, 36, 58});
    CHECK(mz::zones_of(Kind::bt, Class::B).depths ==
          std::vector<std::int64_t>{11, 13, 17, 21, 26, 31, 40, 49});
    const double ratio = static_cast<double>(a.widths.back()) / static_cast<double>(a.widths.front());
    CHECK(ratio == Approx(4.5).epsilon(0.1));
    CHECK(mz::zones_of(Kind::sp, Class::C).widths == std::vector<std::int64_t>(16, 30));
    CHECK(mz::zones_of(Kind::lu, Class::F).count() == 16);
}

TEST_CASE("neighbours are each other's, round the edges") {
    const Zones zones = mz::zones_of(Kind::bt, Class::W);
    for (std::size_t z = 0; z < zones.count(); ++z)
        for (std::size_t side = 0; side < mz::kSides; ++side) {
            const std::size_t next = zones.neighbour(z, side);
            CHECK(next != z);
            CHECK(zones.neighbour(next, side ^ 1U) == z);
            const std::size_t along = side < 2 ? 1 : 0;  // as many points lie on both sides of a border
            CHECK(zones.size(z)[along] == zones.size(next)[along]);
        }
    CHECK(zones.neighbour(0, 0) == 3);
    CHECK(zones.neighbour(0, 2) == 12);
}

TEST_CASE("every plane is in one part, and parts cost alike") {
    const Zones zones = mz::zones_of(Kind::bt, Class::A);
    std::vector<flow::Tile> tiles;
    for (std::size_t z = 0; z < zones.count(); ++z)
        tiles.push_back(flow::Tile::whole(zones.size(z), zones.scale));
    const std::vector<double> costs = mz::costs_of(zones);
    for (const int processes : {1, 2, 3}) {
        const mz::Assignment found = mz::assign(zones, processes, 4, true);
        CHECK(std::accumulate(found.threads.begin(), found.threads.end(), 0) == 4 * processes);
        const auto division = flow::Division::by_cost(tiles, costs, found.owners, found.threads);
        std::vector<std::vector<int>> seen(zones.count(), std::vector<int>(14));
        std::vector<double> loads;
        for (int w = 0; w < 4 * processes; ++w) {
            loads.push_back(0);
            for (std::size_t i = division.first(w); i < division.first(w + 1); ++i) {
                const flow::Part& part = division.parts()[i];
                for (auto p = part.begin; p < part.end; ++p) ++seen[part.cell][static_cast<std::size_t>(p)];
                loads.back() += costs[part.cell] * static_cast<double>(part.end - part.begin) / 14;
            }
        }
        for (const auto& planes : seen) CHECK(std::count(planes.begin(), planes.end(), 1) == 14);
        const double all = std::accumulate(costs.begin(), costs.end(), 0.0);
        for (const double load : loads) CHECK(load * 4 * processes < all * 1.15);
    }
}

TEST_CASE("more processes than zones are refused") {
    CHECK_THROWS_AS(mz::assign(mz::zones_of(Kind::sp, Class::S), 5, 1, false), strata::Error);
    CHECK_NOTHROW(mz::assign(mz::zones_of(Kind::sp, Class::S), 4, 1, false));
}

TEST_CASE("a zone's sides become what its neighbours have one point within theirs") {
    OpenMpGroup group;
    const Zones zones = mz::zones_of(Kind::bt, Class::S);
    mz::Mesh mesh(zones, mz::assign(zones, 1, group.threads(), false), group);
    mesh.begin();
    for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
        const flow::Cell& cell = mesh.cells()[c];
        const flow::Index n = cell.tile.size;
        for (std::int64_t z = 0; z < n[2]; ++z)
            for (std::int64_t y = 0; y < n[1]; ++y)
                for (std::int64_t x = 0; x < n[0]; ++x)
                    for (int m = 0; m < flow::kComponents; ++m)
                        cell.u.at(m, x, y, z) = 1e6 * static_cast<double>(c) + 1e4 * m +
                                                static_cast<double>((z * 20 + y) * 20 + x);
    }
    mesh.exchange();
    const auto value = [](std::size_t c, int m, std::int64_t x, std::int64_t y, std::int64_t z) {
        return 1e6 * static_cast<double>(c) + 1e4 * m + static_cast<double>((z * 20 + y) * 20 + x);
    };
    for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
        const flow::Cell& cell = mesh.cells()[c];
        const flow::Index n = cell.tile.size;
        for (int m = 0; m < flow::kComponents; ++m) {
            const auto west = zones.neighbour(c, 0), north = zones.neighbour(c, 3);
            CHECK(cell.u.at(m, 0, 3, 2) == value(west, m, zones.size(west)[0] - 2, 3, 2));
            CHECK(cell.u.at(m, n[0] - 1, 3, 2) == value(zones.neighbour(c, 1), m, 1, 3, 2));
            CHECK(cell.u.at(m, 3, n[1] - 1, 1) == value(north, m, 3, 1, 1));
            // Edges, and faces in z, stay.
            CHECK(cell.u.at(m, 0, 0, 2) == value(c, m, 0, 0, 2));
            CHECK(cell.u.at(m, 0, 3, 0) == value(c, m, 0, 3, 0));
        }
    }
}
