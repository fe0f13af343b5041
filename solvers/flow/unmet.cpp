// What a case names and the grid has not: it would end up with nothing, without a word.
#include "solvers/flow/unmet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/flow/boundary/conditions.hpp"
#include "solvers/flow/initial.hpp"
#include "solvers/flow/output/rotor.hpp"

namespace strata::flow {

namespace {

/// A range of numbers; none at first.
struct Range {
    double low = HUGE_VAL, high = -HUGE_VAL;
    void add(double x) { low = std::min(low, x), high = std::max(high, x); }
};

/// each(x, y, z) for all nodes of a box.
template <class Each>
void each_node(const GridSource& source, int zone, const Box& box, Each each) {
    const auto count = static_cast<std::size_t>(box.volume());
    std::vector<double> x(3 * count);  // in two dimensions z stays 0
    source.nodes(zone, box, x.data());
    for (std::size_t n = 0; n < count; ++n) each(x[n], x[count + n], x[2 * count + n]);
}

Box face_of(const GridSource& source, const BoundaryRange& range) {
    Box box = source.node_box(range.zone);
    const auto a = static_cast<std::size_t>(range.face.axis);
    (range.face.upper ? box.lo[a] : box.hi[a]) = range.face.upper ? box.hi[a] - 1 : box.lo[a] + 1;
    return box;
}

void check_walls(const Settings& s, const graph::CaseSchema& keys) {
    const auto refuse = [&](const char* key, const char* what, const char* none) {
        keys.refuse(
            key, what,
            fmt::format("{}, or a boundary of kind \"wall\" or \"slip-wall\" (boundary.NAME.kind)", none));
    };
    if (s.output.surface > 0) refuse("output.surface", "the case has no walls to be written", "0");
    for (const auto& [key, range] : {std::pair{"verify.lift", &s.verify.lift},
                                     {"verify.drag", &s.verify.drag},
                                     {"verify.moment", &s.verify.moment},
                                     {"verify.thrust", &s.verify.thrust}})
        if (!range->empty()) refuse(key, "the case has no walls on which a force acts", "[]");
    if (!s.output.stations.empty()) refuse("output.stations", "the case has no walls, and so no blade", "[]");
}

/// The radii at which walls are.
void check_stations(const Settings& s, const graph::CaseSchema& keys, const GridSystem& grid,
                    const std::vector<const BoundaryRange*>& walls) {
    const std::optional<Rotor> rotor = s.rotor();
    if (!rotor || s.output.stations.empty() || s.moves()) return;
    const auto b = static_cast<std::size_t>((rotor->axis + 1) % 3),
               c = static_cast<std::size_t>((rotor->axis + 2) % 3);
    Range radius;
    for (const BoundaryRange* range : walls)
        each_node(
            *grid.source, range->zone, face_of(*grid.source, *range), [&](double x, double y, double z) {
                const Real3 at{x, y, z};
                radius.add(std::hypot(at[b] - rotor->centre[b], at[c] - rotor->centre[c]) / rotor->radius);
            });
    for (const double station : s.output.stations)
        if (station < radius.low - kStationReach || station > radius.high + kStationReach)
            keys.refuse("output.stations", fmt::format("no blade is at {:g} of the radius", station),
                        fmt::format("{:.4g} to {:.4g}, where walls are", radius.low, radius.high));
}

/// A vortex, a tube or blast waves of which the grid has nothing: all its nodes have one state. Looked at in
/// layers of nodes, until two states differ: a grid may be larger than a process's memory.
void check_initial(const Settings& s, const graph::CaseSchema& keys, const GridSystem& grid) {
    if (s.flow.initial == "uniform") return;
    const Initial initial(s, grid.dimensions);
    std::array<Range, 4> states;
    std::array<Range, 2> places;
    const auto along = static_cast<std::size_t>(grid.dimensions - 1);
    for (int zone = 0; zone < static_cast<int>(grid.source->zones().size()); ++zone) {
        const Box all = grid.source->node_box(zone);
        for (int layer = all.lo[along]; layer < all.hi[along]; ++layer) {
            Box nodes = all;
            nodes.lo[along] = layer, nodes.hi[along] = layer + 1;
            each_node(*grid.source, zone, nodes, [&](double x, double y, double z) {
                const FlowState state = initial.at({x, y, z}, 0);
                const std::array<double, 4> values{state.rho, state.u[0], state.u[1], state.p};
                for (std::size_t c = 0; c < 4; ++c) states[c].add(values[c]);
                places[0].add(x), places[1].add(y);
            });
            if (std::any_of(states.begin(), states.end(),
                            [](const Range& r) { return r.high - r.low > 1e-6; }))
                return;
        }
    }
    keys.refuse(
        s.flow.initial == "vortex"       ? "initial.centre"
        : s.flow.initial == "shock tube" ? "initial.place"
                                         : "flow.initial",
        fmt::format("the grid has nothing of the {}: the first state is the same everywhere", s.flow.initial),
        fmt::format("one that lies in the grid: x {:.6g} to {:.6g}, y {:.6g} to {:.6g}", places[0].low,
                    places[0].high, places[1].low, places[1].high));
}

}  // namespace

void check_met(const Settings& s, const graph::CaseSchema& keys, const GridSystem& grid,
               const std::vector<Boundary>& boundaries) {
    std::vector<const BoundaryRange*> walls;
    for (const BoundaryRange& range : grid.boundaries) {
        const auto of = std::find_if(boundaries.begin(), boundaries.end(),
                                     [&](const Boundary& b) { return b.name == range.name; });
        if (of != boundaries.end() && is_wall(of->condition)) walls.push_back(&range);
    }
    if (walls.empty()) check_walls(s, keys);
    check_stations(s, keys, grid, walls);
    check_initial(s, keys, grid);
}

}  // namespace strata::flow
