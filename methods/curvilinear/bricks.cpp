// Boxes, tubes, plates and cylinders.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "methods/curvilinear/computed.hpp"
#include "methods/curvilinear/generators.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/curvilinear/stretch.hpp"

namespace strata::flow {

void require(bool holds, const std::string& key, const std::string& given, const std::string& allowed) {
    if (!holds)
        throw Error(fmt::format("no grid can be made with this '{}'", key)).given(given).allowed(allowed);
}

void add_boundary(GridSystem& system, int zone, const Face& face, const std::string& name) {
    system.boundaries.push_back(
        {zone, face, whole_face(system.source->zones()[static_cast<std::size_t>(zone)].cells, face), name});
}

namespace {

/// How a part of a brick lies in it: node g of the brick is its node map(g).
struct BrickPart {
    Int3 lo{}, hi{};  // nodes of the brick
    graph::IndexMap map;

    [[nodiscard]] Points local(const Int3& a, const Int3& b) const { return upward({map(a), map(b)}); }
};

/// Axes of turned parts; all of them keep a right hand.
constexpr std::array<graph::Axes, 4> kTurns2{{{1, 2, 3, 0}, {2, -1, 3, 0}, {-1, -2, 3, 0}, {-2, 1, 3, 0}}};
constexpr std::array<graph::Axes, 6> kTurns3{
    {{1, 2, 3, 0}, {2, 3, 1, 0}, {3, -2, 1, 0}, {-1, 3, 2, 0}, {-3, -1, 2, 0}, {2, -1, 3, 0}}};

/// The join of two parts over nodes that the first has from a to b, where these are at a + by in the other's
/// brick.
JoinRange join_of(const std::vector<BrickPart>& parts, int p, int q, const Int3& a, const Int3& b,
                  const Int3& by) {
    const BrickPart &here = parts[static_cast<std::size_t>(p)], &there = parts[static_cast<std::size_t>(q)];
    const auto across = [&](const Int3& local) {
        Int3 g = here.map.inverse()(local);
        for (std::size_t d = 0; d < 3; ++d) g[d] += by[d];
        return there.map(g);
    };
    JoinRange join;
    join.zone = p, join.donor = q;
    join.points = here.local(a, b);
    join.donor_points = {across(join.points.begin), across(join.points.end)};
    for (std::size_t d = 0; d < 3; ++d) {
        Int3 next = join.points.begin;
        ++next[d];
        const Int3 moved = across(next);
        for (std::size_t e = 0; e < 3; ++e)
            if (moved[e] != join.donor_points.begin[e])
                join.transform[d] = (moved[e] - join.donor_points.begin[e]) * (static_cast<int>(e) + 1);
    }
    return join;
}

void check(const BrickGrid& brick) {
    for (std::size_t d = 0; d < 3; ++d) {
        require(brick.parts[d] >= 1 && brick.cells[d] >= brick.parts[d], "cells",
                fmt::format("{} cells in {} parts", brick.cells[d], brick.parts[d]),
                "at least one cell in each part");
        require(brick.high[d] > brick.low[d], "high", fmt::format("{}", brick.high[d]),
                fmt::format("more than {}", brick.low[d]));
    }
    require(brick.stretch >= 0 && brick.stretch <= 12, "stretch", fmt::format("{}", brick.stretch),
            "0 to 12");
    require(std::abs(brick.wave) < 0.08, "wave", fmt::format("{}", brick.wave),
            "less than 0.08 to both sides");
}

/// The parts of a brick, along x first.
std::vector<BrickPart> parts_of(const BrickGrid& brick) {
    std::vector<BrickPart> parts;
    const Int3& n = brick.parts;
    const auto first_of = [&](std::size_t d, int p) {
        return static_cast<int>(std::int64_t{brick.cells[d]} * p / n[d]);
    };
    graph::for_each({{0, 0, 0}, n}, [&](int i, int j, int k) {
        const Int3 at{i, j, k};
        BrickPart part;
        for (std::size_t d = 0; d < 3; ++d)
            part.lo[d] = first_of(d, at[d]), part.hi[d] = first_of(d, at[d] + 1);
        const std::size_t number = parts.size();
        if (brick.turned)
            part.map.axes =
                brick.dimensions == 2 ? kTurns2[number % kTurns2.size()] : kTurns3[number % kTurns3.size()];
        for (std::size_t a = 0; a < 3; ++a) {
            const std::size_t g = part.map.axis(a);
            part.map.shift[a] = part.map.backwards(a) ? part.hi[g] : -part.lo[g];
        }
        parts.push_back(part);
    });
    return parts;
}

/// A zone for each part.
std::vector<ZoneShape> zones_of(const std::vector<BrickPart>& parts) {
    std::vector<ZoneShape> zones;
    for (const BrickPart& part : parts) {
        ZoneShape zone;
        for (std::size_t a = 0; a < 3; ++a) {
            const std::size_t g = part.map.axis(a);
            zone.cells[a] = part.hi[g] - part.lo[g];
        }
        zone.origin = static_cast<int>(zones.size());
        zones.push_back(zone);
    }
    return zones;
}

/// Where the nodes of a brick's parts are.
struct BrickNodes {
    BrickGrid brick;
    std::vector<BrickPart> parts;

    Real3 operator()(int zone, const Int3& node) const {
        const Int3 g = parts[static_cast<std::size_t>(zone)].map.inverse()(node);
        Real3 share{}, x{};
        double wave = brick.wave;
        for (std::size_t d = 0; d < 3; ++d) {
            share[d] = static_cast<double>(g[d]) / brick.cells[d];
            if (d == 2 && brick.dimensions == 2) continue;
            wave *= g[d] == 0 || g[d] == brick.cells[d] ? 0 : std::sin(2 * std::numbers::pi * share[d]);
        }
        for (std::size_t d = 0; d < 3; ++d)
            x[d] = brick.low[d] +
                   (brick.high[d] - brick.low[d]) * (stretched(share[d]) + (d == 1 ? -wave : wave));
        return x;
    }

  private:
    [[nodiscard]] double stretched(double share) const {
        const double s = brick.stretch;
        return s == 0 || share == 0 || share == 1 ? share
                                                  : 0.5 + 0.5 * std::sinh(s * (2 * share - 1)) / std::sinh(s);
    }
};

/// The boundaries of a brick, and the joins of its parts.
void add_faces(const BrickGrid& brick, const std::vector<BrickPart>& parts, GridSystem& system) {
    const Int3& n = brick.parts;
    int p = -1;
    graph::for_each({{0, 0, 0}, n}, [&](int i, int j, int k) {
        ++p;
        const BrickPart& part = parts[static_cast<std::size_t>(p)];
        const Int3 place{i, j, k}, stride{1, n[0], n[0] * n[1]};
        for (std::size_t d = 0; d < static_cast<std::size_t>(brick.dimensions); ++d)
            for (const bool upper : {false, true}) {
                Int3 a = part.lo, b = part.hi;
                (upper ? a : b)[d] = (upper ? part.hi : part.lo)[d];
                const bool last = place[d] == (upper ? n[d] - 1 : 0);
                if (last && !brick.periodic[d]) {
                    const Points points = part.local(a, b);
                    const Face face = face_of(*system.source, p, points, "a brick");
                    system.boundaries.push_back(
                        {p, face, points, fmt::format("{}-{}", "xyz"[d], upper ? "max" : "min")});
                } else if (upper) {
                    Int3 by{};
                    if (last) by[d] = -brick.cells[d];
                    const int q = p + (last ? -(n[d] - 1) : 1) * stride[d];
                    JoinRange join = join_of(parts, p, q, a, b, by);
                    if (last) join.shift[d] = brick.high[d] - brick.low[d];
                    system.joins.push_back(join);
                }
            }
    });
}

}  // namespace

GridSystem grid_of(const BrickGrid& wanted) {
    const int dimensions = wanted.dimensions;
    require(dimensions == 2 || dimensions == 3, "dimensions", fmt::format("{}", dimensions), "2, 3");
    BrickGrid brick = wanted;
    if (dimensions == 2) brick.cells[2] = brick.parts[2] = 1, brick.periodic[2] = false;
    check(brick);
    const std::vector<BrickPart> parts = parts_of(brick);
    auto nodes = std::make_shared<ComputedGrid>(dimensions, zones_of(parts), BrickNodes{brick, parts});
    GridSystem system{std::move(nodes), {}, {}, dimensions, {}};
    add_faces(brick, parts, system);
    return system;
}

GridSystem grid_of(const TubeGrid& tube) {
    BrickGrid brick;
    brick.cells = {tube.cells, tube.cells_across, 1};
    const double width = (tube.high - tube.low) / tube.cells * tube.cells_across;
    brick.low = {tube.low, 0, 0}, brick.high = {tube.high, width, 1};
    GridSystem system = grid_of(brick);
    for (BoundaryRange& b : system.boundaries)
        b.name = b.name == "x-min" ? "left" : b.name == "x-max" ? "right" : "side";
    return system;
}

GridSystem grid_of(const PlateGrid& plate) {
    require(plate.cells_before >= 1, "cells_before", fmt::format("{}", plate.cells_before), "1 and more");
    require(plate.cells_along >= 1, "cells_along", fmt::format("{}", plate.cells_along), "1 and more");
    require(plate.cells_up >= 1, "cells_up", fmt::format("{}", plate.cells_up), "1 and more");
    require(plate.first > 0 && plate.first * plate.cells_up <= plate.height, "first",
            fmt::format("{}", plate.first), "above 0, at most an equal share of the height");
    require(plate.first_along > 0, "first_along", fmt::format("{}", plate.first_along), "above 0");
    const auto before = geometric(plate.cells_before, plate.first_along, plate.before);
    std::vector<double> x;
    for (std::size_t i = before.size() - 1; i > 0; --i) x.push_back(-before[i]);
    const auto after = geometric(plate.cells_along, plate.first_along, plate.length);
    x.insert(x.end(), after.begin(), after.end());
    const auto y = geometric(plate.cells_up, plate.first, plate.height);
    const int ni = plate.cells_before + plate.cells_along;
    ZoneShape zone{.name = "plate", .cells = {ni, plate.cells_up, 1}};
    const auto at = [x, y](int, const Int3& node) {
        return Real3{x[static_cast<std::size_t>(node[0])], y[static_cast<std::size_t>(node[1])], 0};
    };
    GridSystem system{std::make_shared<ComputedGrid>(2, std::vector{zone}, at), {}, {}, 2, {}};
    add_boundary(system, 0, {0, false}, "inflow");
    add_boundary(system, 0, {0, true}, "outflow");
    const int edge = plate.cells_before;
    system.boundaries.push_back({0, {1, false}, {{0, 0, 0}, {edge, 0, 1}}, "symmetry"});
    system.boundaries.push_back({0, {1, false}, {{edge, 0, 0}, {ni, 0, 1}}, "wall"});
    add_boundary(system, 0, {1, true}, "top");
    return system;
}

GridSystem grid_of(const CylinderGrid& grid) {
    const int n = grid.cells_around;
    require(n >= 4, "cells_around", fmt::format("{}", n), "4 and more");
    require(grid.cells_out >= 1, "cells_out", fmt::format("{}", grid.cells_out), "1 and more");
    require(grid.farfield > grid.radius && grid.radius > 0, "farfield", fmt::format("{}", grid.farfield),
            "more than the radius of the cylinder");
    require(grid.first > 0, "first", fmt::format("{}", grid.first), "above 0");
    const auto out = geometric(grid.cells_out, grid.first, grid.farfield - grid.radius);
    ZoneShape zone{.name = "cylinder", .cells = {n, grid.cells_out, 1}};
    const double radius = grid.radius;
    const auto at = [out, n, radius](int, const Int3& node) {
        // Clockwise from behind, so that i, j outwards are a right hand; the last node is the first one.
        const double angle = -2 * std::numbers::pi * (node[0] % n) / n,
                     r = radius + out[static_cast<std::size_t>(node[1])];
        return Real3{r * std::cos(angle), r * std::sin(angle), 0};
    };
    GridSystem system{std::make_shared<ComputedGrid>(2, std::vector{zone}, at), {}, {}, 2, {}};
    add_boundary(system, 0, {1, false}, "wall");
    add_boundary(system, 0, {1, true}, "farfield");
    JoinRange join;
    join.points = whole_face(zone.cells, {0, true});
    join.donor_points = whole_face(zone.cells, {0, false});
    system.joins.push_back(join);
    return system;
}

}  // namespace strata::flow
