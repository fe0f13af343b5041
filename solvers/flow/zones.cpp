#include "solvers/flow/zones.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.hpp"
#include "methods/curvilinear/coarsen.hpp"
#include "methods/curvilinear/merge.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/curvilinear/read.hpp"
#include "solvers/flow/boundary_tables.hpp"
#include "solvers/flow/grid_kinds.hpp"

namespace strata::flow {

namespace {

GridSystem whole_grid(const GridKeys& g, const graph::CaseSchema& keys) {
    Int3 most{};
    for (std::size_t d = 0; d < g.zone.size(); ++d) most[d] = static_cast<int>(g.zone[d]);
    if (g.kind != "file") return cut(generate(generator_of(g, keys)), most);
    GridFiles files;
    files.grid = keys.path(g.section + ".file", g.file);
    try {
        files.form = known_form(g.form);
    } catch (const Error& error) {
        keys.refuse(g.section + ".form", error.message() + ": " + error.given(), error.allowed());
    }
    if (!g.map.empty()) files.map = keys.path(g.section + ".map", g.map);
    files.dimensions = static_cast<int>(g.dimensions);
    if (g.turn != 0) files.periodic.push_back({turn_about(g.turn_axis[0] - 'x', g.turn), {}});
    if (!g.shift.empty()) files.periodic.push_back({graph::kNoRotation, place(g.shift, 0)});
    GridSystem system = read_grid(files);
    if (g.turn != 0) {
        if (system.dimensions == 2)
            keys.refuse(g.section + ".turn", "only a grid in three dimensions is periodic by rotation", "0");
        if (std::none_of(system.joins.begin(), system.joins.end(),
                         [](const JoinRange& join) { return join.turn != graph::kNoRotation; }))
            keys.refuse(g.section + ".turn",
                        fmt::format("no face of the grid is taken onto another one by this turn about {}",
                                    g.turn_axis),
                        "the angle of the sector, about the axis that it has");
    }
    try {
        return cut(std::move(system), most);
    } catch (Error& error) {
        throw error.at((files.map.empty() ? files.grid : files.map).string());
    }
}

/// Whether a shift leads away from the axis of a rotation.
bool shifts_across(const Real3& shift, const Real3& spin) {
    double square = 0, squares = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
        const double across = spin[e] * shift[f] - spin[f] * shift[e];
        square += across * across, squares += (std::abs(spin[e]) + std::abs(spin[f])) * std::abs(shift[d]);
    }
    return std::sqrt(square) > 1e-9 * squares;
}

}  // namespace

GridSystem case_grid(const Settings& s, const graph::CaseSchema& keys) {
    const auto made = [&](const GridKeys& g) {
        GridSystem grid = whole_grid(g, keys);
        return g.coarsen > 0 ? coarsened(grid, 1 << g.coarsen) : grid;
    };
    if (!s.overlaps()) return made(s.grid);
    std::vector<NamedGrid> grids;
    for (const auto& [name, mesh] : s.meshes) grids.push_back({name, made(mesh.grid)});
    return merged(std::move(grids));
}

FlowZones::FlowZones(graph::Graph& graph, const std::string& name, GridSystem system, int coarser,
                     const Settings& s, const graph::CaseSchema& keys,
                     const std::vector<Boundary>& boundaries)
    : system_(std::move(system)), frame_(s.motion()), motions_(s.motions(dimensions(), keys)) {
    const std::span<const ZoneShape> shapes = source().zones();
    graph::ZoneList list(name);
    std::vector<const GridKeys*> of_mesh{&s.grid};
    if (s.overlaps()) of_mesh.clear();
    for (const auto& [mesh_name, mesh] : s.meshes) of_mesh.push_back(&mesh.grid);
    for (std::size_t zone = 0; zone < shapes.size(); ++zone) {
        const GridKeys& g = *of_mesh[system_.mesh.empty() ? 0 : static_cast<std::size_t>(system_.mesh[zone])];
        Int3 patch{1 << 20, 1 << 20, 1 << 20};
        for (std::size_t d = 0; d < g.patch.size(); ++d) {
            patch[d] = static_cast<int>(g.patch[d]) >> coarser;
            if (g.patch[d] != static_cast<std::int64_t>(patch[d]) << coarser)
                keys.refuse(g.section + ".patch",
                            "patches are halved for each coarser grid of time.sequence and time.multigrid",
                            fmt::format("multiples of {}", 1 << (s.grids() - 1)));
        }
        list.zone({{0, 0, 0}, shapes[zone].cells}, patch);
    }
    shifts_.resize(shapes.size());
    for (const JoinRange& join : system_.joins) {
        const RigidMotion motion = moves() ? motions_.velocity(mesh_of(join.zone), 1) : frame_;
        if (shifts_across(join.shift, motion.spin))
            keys.refuse(moves()
                            ? of_mesh[static_cast<std::size_t>(mesh_of(join.zone))]->section + ".motion.kind"
                            : "frame.rotation_rate",
                        "a grid that turns is not periodic across its axis",
                        "a grid that is periodic along the axis alone, or one that does not turn");
        list.join_parts(join.zone, join.points, join.donor, join.donor_points, join.transform, join.turn);
        note_shift(join);
        note_shift(other_side(join));
    }
    zones_ = &graph.add<graph::Zones>(std::move(list));

    std::vector<std::string> names;
    for (const Boundary& b : boundaries) names.push_back(b.name);
    on_zone_.resize(shapes.size());
    check_boundary_tables(system_, s, keys);
    for (const BoundaryRange& range : system_.boundaries) {
        const auto at = std::find(names.begin(), names.end(), range.name);
        if (boundaries[static_cast<std::size_t>(at - names.begin())].condition == Condition::mass_outflow &&
            moves() && motions_.of[static_cast<std::size_t>(mesh_of(range.zone))].moves())
            keys.refuse("boundary." + range.name + ".kind",
                        "the mass flow through a boundary of a grid that moves is not found",
                        "\"pressure-outflow\", or a grid that stands still");
        on_zone_[static_cast<std::size_t>(range.zone)]
                [static_cast<std::size_t>(2 * range.face.axis + (range.face.upper ? 1 : 0))] =
                    &boundaries[static_cast<std::size_t>(at - names.begin())];
    }
    find_meeting_lines();
    for (int p = 0; p < zones_->patches(); ++p)
        of_patch_.emplace_back(zones_->box(p), on_patch(p), dimensions());
}

std::array<const Boundary*, 6> FlowZones::on_patch(int patch) const {
    std::array<const Boundary*, 6> on{};
    const int zone = zones_->zone_of(patch);
    const Box &cells = zones_->box(patch), &all = zones_->cells(zone);
    for (std::size_t a = 0; a < 3; ++a) {
        const auto& of = on_zone_[static_cast<std::size_t>(zone)];
        if (cells.lo[a] == all.lo[a]) on[2 * a] = of[2 * a];
        if (cells.hi[a] == all.hi[a]) on[2 * a + 1] = of[2 * a + 1];
    }
    return on;
}

int FlowZones::line_axis(int zone) const {
    const auto axis_of = [this](std::size_t part) {
        const auto& on = on_zone_[part];
        for (const std::size_t a : {std::size_t{1}, std::size_t{2}, std::size_t{0}})
            if (std::any_of(&on[2 * a], &on[2 * a] + 2,
                            [](const Boundary* b) { return b != nullptr && is_viscous_wall(b->condition); }))
                return static_cast<int>(a);
        return -1;
    };
    if (const int own = axis_of(static_cast<std::size_t>(zone)); own >= 0) return own;
    // A zone that is cut on the way out: the first of its parts that has walls. (Cuts keep axes.)
    const std::span<const ZoneShape> shapes = source().zones();
    for (std::size_t part = 0; part < shapes.size(); ++part)
        if (shapes[part].origin == shapes[static_cast<std::size_t>(zone)].origin)
            if (const int other = axis_of(part); other >= 0) return other;
    return 1;
}

bool FlowZones::any_lines_meet() const {
    return std::find(lines_meet_.begin(), lines_meet_.end(), true) != lines_meet_.end();
}

void FlowZones::find_meeting_lines() {
    const std::size_t zones = on_zone_.size();
    // The axis across which points of a join lie, where that is a zone's lower face; else -1.
    const auto lower_axis = [](const Points& points) {
        for (std::size_t a = 0; a < 3; ++a)
            if (points.begin[a] == points.end[a]) return points.begin[a] == 0 ? static_cast<int>(a) : -1;
        return -1;
    };
    std::vector<int> joins(zones, 0), meeting(zones, 0);
    for (const JoinRange& join : system_.joins) {
        const int here = lower_axis(join.points), there = lower_axis(join.donor_points);
        const bool ends_here = here == line_axis(join.zone), ends_there = there == line_axis(join.donor);
        const bool meets = ends_here && ends_there && join.turn == graph::kNoRotation;
        if (ends_here) ++joins[static_cast<std::size_t>(join.zone)];
        if (ends_there) ++joins[static_cast<std::size_t>(join.donor)];
        if (meets)
            ++meeting[static_cast<std::size_t>(join.zone)], ++meeting[static_cast<std::size_t>(join.donor)];
    }
    lines_meet_.resize(zones);
    for (std::size_t z = 0; z < zones; ++z) lines_meet_[z] = joins[z] > 0 && meeting[z] == joins[z];
}

/// The donor's places are seen by the zone at turn x + shift; the graph turns them.
void FlowZones::note_shift(const JoinRange& join) {
    if (join.shift == Real3{}) return;
    const Box node = source().node_box(join.zone);
    Box beyond;
    for (std::size_t a = 0; a < 3; ++a) {
        const int lo = std::min(join.points.begin[a], join.points.end[a]),
                  hi = std::max(join.points.begin[a], join.points.end[a]);
        beyond.lo[a] = lo, beyond.hi[a] = hi;
        // Beyond edges and corners of the zone too: several shifts add up there.
        if (lo != hi && lo == 0) beyond.lo[a] -= kBorder;
        if (lo != hi && hi == node.hi[a] - 1) beyond.hi[a] += kBorder;
        if (lo == hi) (lo == 0 ? beyond.lo[a] : beyond.hi[a]) += lo == 0 ? -node.hi[a] : node.hi[a];
    }
    shifts_[static_cast<std::size_t>(join.zone)].push_back({beyond, join.shift});
}

}  // namespace strata::flow
