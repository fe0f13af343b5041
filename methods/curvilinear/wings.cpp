// C-grids around sections, and wings made of them.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>

#include "core/base/error.hpp"
#include "methods/curvilinear/computed.hpp"
#include "methods/curvilinear/generators.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/curvilinear/section.hpp"
#include "methods/curvilinear/stretch.hpp"

namespace strata::flow {

void check(const AirfoilGrid& grid) {
    const bool digits =
        grid.naca.size() == 4 &&
        std::all_of(grid.naca.begin(), grid.naca.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
    require(digits && grid.naca.substr(2) != "00", "naca", grid.naca,
            "four digits, not all of the thickness 0");
    require((grid.naca[0] == '0') == (grid.naca[1] == '0'), "naca", grid.naca,
            "camber and its place, or neither");
    require(grid.tail == "scaled" || grid.tail == "sharp" || grid.tail == "blunt", "tail", grid.tail,
            "scaled, sharp, blunt");
    require(grid.cells_surface >= 8 && grid.cells_surface % 2 == 0, "cells_surface",
            fmt::format("{}", grid.cells_surface), "an even number of 8 and more");
    require(grid.cells_wake >= 2, "cells_wake", fmt::format("{}", grid.cells_wake), "2 and more");
    require(grid.cells_out >= 2, "cells_out", fmt::format("{}", grid.cells_out), "2 and more");
    require(grid.cells_base >= 1, "cells_base", fmt::format("{}", grid.cells_base), "1 and more");
    require(grid.farfield >= grid.least_farfield, "farfield", fmt::format("{}", grid.farfield),
            fmt::format("{} chords and more", grid.least_farfield));
    require(grid.first > 0 && grid.first * grid.cells_out < grid.farfield, "first",
            fmt::format("{}", grid.first), "above 0, less than an equal share of the way out");
    const double ratio = geometric_ratio(grid.cells_out, grid.first, grid.farfield);
    require(ratio <= 2, "cells_out",
            fmt::format("{}, each {:.3g} times as high as the one before", grid.cells_out, ratio),
            "so many that cells grow by 2 at most");
    require(grid.wake_growth >= 0, "wake_growth", fmt::format("{}", grid.wake_growth), "0 and more");
    for (const auto& [key, value] :
         {std::pair{"first_nose", grid.first_nose}, {"first_tail", grid.first_tail}})
        require(value > 0 && value < 0.5, key, fmt::format("{}", value), "above 0, below 0.5 chords");
}

namespace {

/// The wake cut of a C-grid: its lower side with its upper one, over these k.
JoinRange cut_of(int ni, int length, int k0, int k1) {
    JoinRange join;
    join.points = {{0, 0, k0}, {length, 0, k1}};
    join.donor_points = {{ni, 0, k0}, {ni - length, 0, k1}};
    join.transform = {-1, -2, 3};
    return join;
}

/// The block behind a blunt trailing edge: from the C-grid's lower to its upper line, a column for each
/// station.
std::vector<std::vector<double>> base_columns(const AirfoilGrid& grid, const CSection& c) {
    std::vector<std::vector<double>> columns;
    for (int m = 0; m <= grid.cells_wake; ++m) {
        const int below = grid.cells_wake - m, above = c.ni - below;
        const double low = c.y[c.at(below, 0)], high = c.y[c.at(above, 0)];
        const double end = std::min(c.first[static_cast<std::size_t>(below)], (high - low) / grid.cells_base);
        auto y = two_sided(grid.cells_base, end, end, high - low);
        for (double& value : y) value += low;
        y.back() = high;
        columns.push_back(std::move(y));
    }
    return columns;
}

}  // namespace

GridSystem grid_of(const AirfoilGrid& grid) {
    check(grid);
    const bool blunt = grid.tail == "blunt";
    const CSection c = make_c_section(grid);
    std::vector<ZoneShape> zones{{.name = "airfoil", .cells = {c.ni, c.nj, 1}}};
    std::vector<std::vector<double>> base;
    if (blunt) {
        base = base_columns(grid, c);
        zones.push_back({.name = "base", .cells = {grid.cells_wake, grid.cells_base, 1}, .origin = 1});
    }
    const auto at = [c, base, wake = grid.cells_wake](int zone, const Int3& node) {
        if (zone == 0) return Real3{c.x[c.at(node[0], node[1])], c.y[c.at(node[0], node[1])], 0};
        // The base of a section with camber is slanted.
        const auto& column = base[static_cast<std::size_t>(node[0])];
        const double y = column[static_cast<std::size_t>(node[1])];
        const double low = c.x[c.at(wake - node[0], 0)], high = c.x[c.at(c.ni - wake + node[0], 0)];
        const double share = (y - column.front()) / (column.back() - column.front());
        return Real3{(1 - share) * low + share * high, y, 0};
    };
    GridSystem system{std::make_shared<ComputedGrid>(2, zones, at), {}, {}, 2, {}};
    const int wake = grid.cells_wake;
    system.boundaries.push_back({0, {1, false}, {{wake, 0, 0}, {c.ni - wake, 0, 1}}, "wall"});
    add_boundary(system, 0, {1, true}, "farfield");
    add_boundary(system, 0, {0, false}, "outflow");
    add_boundary(system, 0, {0, true}, "outflow");
    if (!blunt) {
        system.joins.push_back(cut_of(c.ni, wake, 0, 1));
        return system;
    }
    add_boundary(system, 1, {0, false}, "wall");
    add_boundary(system, 1, {0, true}, "outflow");
    JoinRange below = cut_of(c.ni, wake, 0, 1), above;
    below.donor = above.donor = 1;
    below.donor_points = {{wake, 0, 0}, {0, 0, 1}};
    above.points = {{c.ni - wake, 0, 0}, {c.ni, 0, 1}};
    above.donor_points = {{0, grid.cells_base, 0}, {wake, grid.cells_base, 1}};
    system.joins.push_back(below), system.joins.push_back(above);
    return system;
}

namespace {

/// Places along the span, and which share of the thickness a section has there.
struct Span {
    std::vector<double> z, thickness;
    int root = 0, tip = 0;  // nodes between which there is a wall
};

/// The share of the thickness at a place of an end that is an ellipse between `from` and `end`.
double rounded(double z, double from, double end) {
    const double share = (z - from) / (end - from);
    return share <= 0 ? 1 : share >= 1 ? 0 : std::sqrt(1 - share * share);
}

/// Both ends are rounded off.
Span along_blade(const WingGrid& wing) {
    Span span;
    span.root = wing.cells_beyond, span.tip = wing.cells_beyond + wing.cells_span;
    const auto beyond = geometric(wing.cells_beyond, wing.first_tip, wing.beyond);
    const auto within = two_sided(wing.cells_span, wing.first_tip, wing.first_tip, wing.span);
    for (std::size_t k = beyond.size(); --k > 0;) span.z.push_back(-beyond[k]);
    span.z.insert(span.z.end(), within.begin(), within.end());
    span.z[static_cast<std::size_t>(span.root)] = 0, span.z[static_cast<std::size_t>(span.tip)] = wing.span;
    for (std::size_t k = 1; k < beyond.size(); ++k) span.z.push_back(wing.span + beyond[k]);
    const double low = span.z[static_cast<std::size_t>(span.root + wing.cells_round)],
                 high = span.z[static_cast<std::size_t>(span.tip - wing.cells_round)];
    for (const double z : span.z) {
        const bool none = z <= 0 || z >= wing.span;
        span.thickness.push_back(none                    ? 0
                                 : wing.cells_round == 0 ? 1
                                 : z < 0.5 * wing.span   ? rounded(z, low, 0)
                                                         : rounded(z, high, wing.span));
    }
    return span;
}

Span along_span(const WingGrid& wing) {
    if (wing.is_blade) return along_blade(wing);
    Span span;
    span.tip = wing.cells_span;
    if (wing.cells_beyond == 0) {
        for (int k = 0; k <= wing.cells_span; ++k) span.z.push_back(wing.span * k / wing.cells_span);
        span.thickness.assign(span.z.size(), 1);
        return span;
    }
    const auto inward = geometric(wing.cells_span, wing.first_tip, wing.span);
    for (std::size_t k = inward.size(); k-- > 0;) span.z.push_back(wing.span - inward[k]);
    span.z[0] = 0;
    const auto outward = geometric(wing.cells_beyond, wing.first_tip, wing.beyond);
    for (std::size_t k = 1; k < outward.size(); ++k) span.z.push_back(wing.span + outward[k]);
    // The end is an ellipse over the last cells.
    const double from = span.z[static_cast<std::size_t>(span.tip - wing.cells_round)];
    for (const double z : span.z) {
        span.thickness.push_back(wing.cells_round > 0 ? rounded(z, from, wing.span) : z >= wing.span ? 0 : 1);
    }
    span.thickness[static_cast<std::size_t>(span.tip)] = 0;
    return span;
}

void check_wing(const WingGrid& wing) {
    check(wing.section);
    require(wing.section.tail != "blunt", "tail", wing.section.tail, "scaled or sharp (of a wing)");
    require(wing.cells_span >= 1, "cells_span", fmt::format("{}", wing.cells_span), "1 and more");
    require(wing.cells_beyond >= 0, "cells_beyond", fmt::format("{}", wing.cells_beyond), "0 and more");
    require(wing.cells_round >= 0 && wing.cells_round < wing.cells_span, "cells_round",
            fmt::format("{}", wing.cells_round), "0 and more, fewer than cells_span");
    require(wing.span > 0, "span", fmt::format("{}", wing.span), "above 0");
    require(wing.beyond > 0, "beyond", fmt::format("{}", wing.beyond), "above 0");
    require(wing.first_tip > 0 && wing.first_tip <= wing.span / wing.cells_span, "first_tip",
            fmt::format("{}", wing.first_tip), "above 0, at most an equal share of the span");
    require(wing.taper > 0, "taper", fmt::format("{}", wing.taper), "above 0");
    require(std::abs(wing.sweep) < 80, "sweep", fmt::format("{}", wing.sweep), "between -80 and 80 degrees");
    require(std::abs(wing.twist) < 30, "twist", fmt::format("{}", wing.twist), "between -30 and 30 degrees");
    require(!wing.is_blade || wing.cells_beyond >= 2, "cells_beyond", fmt::format("{}", wing.cells_beyond),
            "2 and more (of a blade)");
    require(!wing.is_blade || 2 * wing.cells_round < wing.cells_span, "cells_span",
            fmt::format("{}", wing.cells_span), "more than round off both ends (of a blade)");
    require(!wing.is_blade || wing.root > wing.beyond, "root", fmt::format("{}", wing.root),
            fmt::format("above {}, how far the grid goes on beyond the blade", wing.beyond));
    require(
        !wing.periodic || (wing.taper == 1 && wing.sweep == 0 && wing.twist == 0 && wing.cells_beyond == 0),
        "periodic", "true", "false where a wing is tapered, swept, twisted or has a tip");
}

/// With first cells that are so many times as large, at most as large as all others.
AirfoilGrid grown(AirfoilGrid section, double times) {
    if (times == 1) return section;
    const double equal = 2.0 / section.cells_surface;  // of a slit
    section.first = std::min(times * section.first, section.farfield / section.cells_out);
    section.first_nose = std::max(section.first_nose, std::min(times * section.first_nose, equal));
    section.first_tail = std::max(section.first_tail, std::min(times * section.first_tail, equal));
    return section;
}

}  // namespace

GridSystem grid_of(const WingGrid& wing) {
    check_wing(wing);
    const Span span = along_span(wing);
    // By thickness and growth: most sections are the same.
    std::map<std::pair<double, double>, std::shared_ptr<const CSection>> made;
    std::vector<std::shared_ptr<const CSection>> sections;
    for (std::size_t k = 0; k < span.z.size(); ++k) {
        const double beyond = std::max({0.0, -span.z[k], span.z[k] - wing.span}),
                     growth = 1 + wing.beyond_growth * beyond;
        auto& section = made[{span.thickness[k], growth}];
        if (!section)
            section = std::make_shared<const CSection>(
                make_c_section(grown(wing.section, growth), span.thickness[k]));
        sections.push_back(section);
    }
    const int ni = sections[0]->ni, nj = sections[0]->nj, nk = static_cast<int>(span.z.size()) - 1;
    const ZoneShape zone{.name = wing.is_blade ? "blade" : "wing", .cells = {ni, nj, nk}};
    const double degree = std::numbers::pi / 180;
    const auto at = [=](int, const Int3& node) {
        const auto k = static_cast<std::size_t>(node[2]);
        const CSection& c = *sections[k];
        const std::size_t n = c.at(node[0], node[1]);
        const double z = span.z[k], share = std::clamp(z / wing.span, 0.0, 1.0);
        const double chord = 1 + (wing.taper - 1) * share;
        const double angle = -degree * (wing.twist * share + (wing.is_blade ? wing.pitch : 0));
        const double x = chord * (c.x[n] - 0.25), y = chord * c.y[n];
        const double aft = z * std::tan(wing.sweep * degree) + std::cos(angle) * x - std::sin(angle) * y,
                     up = std::sin(angle) * x + std::cos(angle) * y;
        if (!wing.is_blade) return Real3{0.25 + aft, up, z};
        Real3 place;
        const auto axis = static_cast<std::size_t>(wing.rotor_axis);
        place[axis] = up;
        // The usual direction keeps its bits.
        const double along = wing.root + z, turned = degree * wing.azimuth;
        const double c1 = wing.azimuth == 0 ? 1 : std::cos(turned),
                     s1 = wing.azimuth == 0 ? 0 : std::sin(turned);
        place[(axis + 1) % 3] = c1 * along - s1 * aft, place[(axis + 2) % 3] = s1 * along + c1 * aft;
        return place;
    };
    GridSystem system{std::make_shared<ComputedGrid>(3, std::vector{zone}, at), {}, {}, 3, {}};
    const int wake = wing.section.cells_wake, tip = span.tip;
    system.boundaries.push_back({0, {1, false}, {{wake, 0, span.root}, {ni - wake, 0, tip}}, "wall"});
    system.joins.push_back(cut_of(ni, wake, span.root, tip));
    if (span.root > 0) system.joins.push_back(cut_of(ni, ni / 2, 0, span.root));
    if (nk > tip) system.joins.push_back(cut_of(ni, ni / 2, tip, nk));
    add_boundary(system, 0, {1, true}, "farfield");
    add_boundary(system, 0, {0, false}, "outflow");
    add_boundary(system, 0, {0, true}, "outflow");
    if (wing.periodic) {
        JoinRange join;
        join.points = whole_face(zone.cells, {2, true});
        join.donor_points = whole_face(zone.cells, {2, false});
        join.shift = {0, 0, wing.span};
        system.joins.push_back(join);
    } else {
        add_boundary(system, 0, {2, false}, wing.is_blade ? "farfield" : "root");
        add_boundary(system, 0, {2, true}, nk > tip ? "farfield" : "tip");
    }
    return system;
}

GridSystem generate(const Generator& generator) {
    return std::visit([](const auto& grid) { return grid_of(grid); }, generator);
}

}  // namespace strata::flow
