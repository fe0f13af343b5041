// Sectors of annuli, for rotors: one blade's part stands for all.
#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <numbers>

#include "methods/curvilinear/computed.hpp"
#include "methods/curvilinear/generators.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/curvilinear/stretch.hpp"

namespace strata::flow {

namespace {

/// Nodes from 0 on: equal cells of about `first` up to `core`, from there on growing up to `length`.
std::vector<double> with_core(const std::string& key, int cells, double first, double core, double length) {
    const int equal = core > 0 ? std::max(1, static_cast<int>(std::lround(core / first))) : 0;
    require(cells > equal, key, fmt::format("{} cells", cells),
            fmt::format("more than the {} of the core", equal));
    std::vector<double> nodes;
    for (int n = 0; n < equal; ++n) nodes.push_back(core * n / equal);
    const double start = equal > 0 ? core / equal : first;
    const double ratio = geometric_ratio(cells - equal, start, length - core);
    require(
        ratio >= 1 && ratio <= 2, key,
        fmt::format("{} cells, each {:.3g} times as long as the one before beyond the core", cells, ratio),
        "so many that cells grow, by 2 at most");
    for (const double at : geometric(cells - equal, start, length - core)) nodes.push_back(core + at);
    return nodes;
}

/// Along the axis, with the core in the middle.
std::vector<double> along_axis(const SectorGrid& g) {
    const double middle = 0.5 * (g.core_low + g.core_high), half = 0.5 * (g.core_high - g.core_low);
    const auto down = with_core("cells", g.cells_along / 2, g.first, half, middle - g.low),
               up = with_core("cells", g.cells_along - g.cells_along / 2, g.first, half, g.high - middle);
    std::vector<double> z;
    for (std::size_t n = down.size(); --n > 0;) z.push_back(middle - down[n]);
    for (const double at : up) z.push_back(middle + at);
    return z;
}

void check(const SectorGrid& g) {
    const auto text = [](double value) { return fmt::format("{}", value); };
    require(g.cells_around >= 4, "cells", fmt::format("{} around", g.cells_around), "4 and more");
    require(g.degrees > 0 && (g.degrees <= 180 || g.degrees == 360), "turn", text(g.degrees),
            "above 0, at most 180 degrees; or 360, the whole annulus");
    require(g.hub > 0 && g.hub < g.core, "hub", text(g.hub), "above 0, below the radius of the core");
    require(g.core < g.farfield, "core", text(g.core), "below the far field");
    require(g.low < g.core_low && g.core_low < g.core_high && g.core_high < g.high, "core",
            fmt::format("{} to {}", g.core_low, g.core_high),
            fmt::format("within {} to {} along the axis", g.low, g.high));
    require(g.first > 0, "first", text(g.first), "above 0");
}

}  // namespace

GridSystem grid_of(const SectorGrid& g) {
    check(g);
    const auto out = with_core("cells", g.cells_out, g.first, g.core - g.hub, g.farfield - g.hub);
    const auto along = along_axis(g);
    const ZoneShape zone{.name = "sector", .cells = {g.cells_out, g.cells_around, g.cells_along}};
    const auto at = [=](int, const Int3& node) {
        const double r = g.hub + out[static_cast<std::size_t>(node[0])];
        const bool again = g.degrees == 360 && node[1] == g.cells_around;  // the first nodes, to the last bit
        const double share = (again ? 0 : static_cast<double>(node[1]) / g.cells_around) - 0.5;
        const double angle = share * g.degrees * std::numbers::pi / 180;
        const auto axis = static_cast<std::size_t>(g.axis);
        Real3 x;
        x[axis] = along[static_cast<std::size_t>(node[2])];
        x[(axis + 1) % 3] = r * std::cos(angle), x[(axis + 2) % 3] = r * std::sin(angle);
        return x;
    };
    GridSystem system{std::make_shared<ComputedGrid>(3, std::vector{zone}, at), {}, {}, 3, {}};
    add_boundary(system, 0, {0, false}, "hub");
    add_boundary(system, 0, {0, true}, "farfield");
    add_boundary(system, 0, {2, false}, "below");
    add_boundary(system, 0, {2, true}, "above");
    JoinRange join;
    join.points = whole_face(zone.cells, {1, true});
    join.donor_points = whole_face(zone.cells, {1, false});
    join.turn = turn_about(g.axis, g.degrees);
    system.joins.push_back(join);
    return system;
}

}  // namespace strata::flow
