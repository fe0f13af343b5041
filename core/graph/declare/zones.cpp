// The owners of values in zones: by arithmetic within a zone, beyond its faces by the joins.
#include "core/graph/declare/zones.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

/// The parts of a box outside of `hole`, which lies within it.
void cut_out(const Box& box, const Box& hole, std::vector<Box>& parts) {
    Box left = box;
    for (std::size_t a = 0; a < 3; ++a) {
        Box below = left, above = left;
        below.hi[a] = left.lo[a] = hole.lo[a];
        above.lo[a] = left.hi[a] = hole.hi[a];
        if (!below.empty()) parts.push_back(below);
        if (!above.empty()) parts.push_back(above);
    }
}

bool earlier(const Grid::Meeting& a, const Grid::Meeting& b) {
    return std::tie(a.patch, a.axes, a.shift, a.box.lo) < std::tie(b.patch, b.axes, b.shift, b.box.lo);
}

}  // namespace

struct Zones::Search {
    On on;
    Int3 border;
    std::vector<Meeting>& found;
    std::vector<Meeting> met{};  // scratch
};

Zones::Zones(ZoneList list) : Grid(list.name_, list.patches_, list.around_), list_(std::move(list)) {
    if (list_.zones_.empty())
        throw Error(fmt::format("'{}' has no zones", name()))
            .allowed("one or more")
            .remedy("ZoneList::zone()");
    zone_of_.reserve(static_cast<std::size_t>(patches()));
    for (std::size_t i = 0; i < list_.zones_.size(); ++i) {
        const ZoneList::Zone& zone = list_.zones_[i];
        zone_of_.insert(zone_of_.end(), static_cast<std::size_t>(zone.grid->patches()), static_cast<int>(i));
        for (const auto& sides : zone.faces) joined_ = joined_ || !sides.empty();
    }
    turns_ = list_.rotations_.size() > 1;
}

const Rotation& Zones::rotation(int number) const {
    const std::lock_guard lock(growing_);
    return list_.rotations_[static_cast<std::size_t>(number)];
}

std::int8_t Zones::product(std::int8_t outer, std::int8_t inner) const {
    if (inner == 0 || outer == 0) return static_cast<std::int8_t>(outer + inner);
    const std::lock_guard lock(growing_);
    const std::pair<std::int8_t, std::int8_t> way{outer, inner};
    if (const auto at = products_.find(way); at != products_.end()) return at->second;
    const Rotation &a = list_.rotations_[static_cast<std::size_t>(outer)],
                   &b = list_.rotations_[static_cast<std::size_t>(inner)];
    Rotation both{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j)
            for (std::size_t k = 0; k < 3; ++k) both[i][j] += a[i][k] * b[k][j];
    return products_[way] = list_.number_of(both);
}

std::int64_t Zones::all_cells() const {
    std::int64_t all = 0;
    for (const ZoneList::Zone& zone : list_.zones_) all += zone.cells().volume();
    return all;
}

Box Zones::box(int patch) const {
    const ZoneList::Zone& zone = of(patch);
    return zone.grid->box(patch - zone.first_patch);
}

Box Zones::owned_in(int zone, const Box& cells, On on, const Int3& border) const {
    const ZoneList::Zone& in = list_.at(zone);
    Box values = cells;
    for (std::size_t a = 0; a < 3; ++a) {
        if (cells.lo[a] == in.cells().lo[a] && !in.joined(a, false)) values.lo[a] -= border[a];
        if (cells.hi[a] != in.cells().hi[a]) continue;
        values.hi[a] += (in.joined(a, true) ? 0 : border[a]) + (on_sides(on, a) ? 1 : 0);
    }
    return values;
}

Box Zones::extent_in(int zone, On on, const Int3& border) const {
    const ZoneList::Zone& in = list_.at(zone);
    Box all = owned_in(zone, in.cells(), on, border);
    for (std::size_t a = 0; a < 3; ++a) {
        if (in.joined(a, false)) all.lo[a] = -ZoneList::kFar;
        if (in.joined(a, true)) all.hi[a] = ZoneList::kFar;
    }
    return all;
}

bool Zones::at_border(int patch, int axis, int upper) const {
    const ZoneList::Zone& zone = of(patch);
    return !zone.joined(static_cast<std::size_t>(axis), upper != 0) &&
           zone.grid->at_border(patch - zone.first_patch, axis, upper);
}

bool Zones::is_flat(int axis) const {
    const auto a = static_cast<std::size_t>(axis);
    return std::all_of(list_.zones_.begin(), list_.zones_.end(), [&](const ZoneList::Zone& zone) {
        return zone.grid->is_flat(axis) && !zone.joined(a, false) && !zone.joined(a, true);
    });
}

int Zones::widest(int axis) const {
    int most = 0;
    for (const ZoneList::Zone& zone : list_.zones_) most = std::max(most, zone.grid->widest(axis));
    return most;
}

/// Finds the owners of a box in the indices of a zone; `to_asked` leads from these to those of the question.
/// Leaves what has no owner, in the zone's indices. Comes to an end: each crossing of a face leaves the box
/// nearer to the zone behind it than it was to the zone before it, by at least one cell.
void Zones::follow(Search& search, int zone, const Box& box, const IndexMap& to_asked,
                   std::vector<Box>& missing) const {
    const ZoneList::Zone& in = list_.at(zone);
    const Box all = owned_in(zone, in.cells(), search.on, search.border);
    const Box inside = common(box, all);
    if (!inside.empty()) {
        in.grid->find_owners(inside, search.on, search.border, search.met);
        looked_at_.fetch_add(static_cast<std::int64_t>(search.met.size()), std::memory_order_relaxed);
        for (const Meeting& met : search.met)
            search.found.push_back(
                {in.first_patch + met.patch, to_asked.shift, to_asked(met.box), to_asked.axes});
        if (inside == box) return;
    }
    Int3 side;  // -1 below, 0 within, 1 above
    for (side[2] = -1; side[2] <= 1; ++side[2])
        for (side[1] = -1; side[1] <= 1; ++side[1])
            for (side[0] = -1; side[0] <= 1; ++side[0]) {
                if (side == Int3{}) continue;
                Box region = box;
                for (std::size_t a = 0; a < 3; ++a) {
                    if (side[a] >= 0)
                        region.lo[a] = std::max(box.lo[a], side[a] == 0 ? all.lo[a] : all.hi[a]);
                    if (side[a] <= 0)
                        region.hi[a] = std::min(box.hi[a], side[a] == 0 ? all.hi[a] : all.lo[a]);
                }
                if (!region.empty()) leave(search, in, region, side, to_asked, missing);
            }
}

/// The same for a box that lies wholly outside, on the same sides of the zone: through the faces along x,
/// what is left of it then through those along y and z.
void Zones::leave(Search& search, const ZoneList::Zone& zone, const Box& region, const Int3& side,
                  const IndexMap& to_asked, std::vector<Box>& missing) const {
    std::vector<Box> left{region}, next, rest, parts, lost;
    for (std::size_t a = 0; a < 3; ++a) {
        if (side[a] == 0 || search.on != On::cells) continue;
        next.clear();
        for (const ZoneList::Side& join : zone.faces[2 * a + (side[a] > 0 ? 1 : 0)]) {
            looked_at_.fetch_add(1, std::memory_order_relaxed);
            rest.clear();
            for (const Box& box : left) {
                const Box through = common(box, join.beyond);
                if (through.empty()) {
                    rest.push_back(box);
                    continue;
                }
                lost.clear();
                IndexMap onwards = to_asked.after(join.from_donor);
                onwards.axes[3] = product(to_asked.axes[3], join.from_donor.axes[3]);
                follow(search, join.donor, join.to_donor(through), onwards, lost);
                for (const Box& none : lost) next.push_back(join.from_donor(none));
                cut_out(box, through, rest);
            }
            left.swap(rest);
        }
        left.insert(left.end(), next.begin(), next.end());
    }
    missing.insert(missing.end(), left.begin(), left.end());
}

void Zones::find_owners_in(int zone, const Box& box, On on, const Int3& border,
                           std::vector<Meeting>& found) const {
    found.clear();
    if (box.empty()) return;
    Search search{on, border, found};
    std::vector<Box> missing;
    follow(search, zone, box, {}, missing);
    std::sort(found.begin(), found.end(), earlier);
}

std::vector<Box> Zones::missing_in(int zone, const Box& box, On on, const Int3& border) const {
    std::vector<Meeting> found;
    Search search{on, border, found};
    std::vector<Box> missing, within;
    follow(search, zone, box, {}, missing);
    for (const Box& none : missing)
        if (const Box there = common(none, extent_in(zone, on, border)); !there.empty())
            within.push_back(there);
    return within;
}

std::optional<Zones::Place> Zones::find(int zone, const Int3& at) const {
    std::vector<Meeting> found;
    find_owners_in(zone, {at, {at[0] + 1, at[1] + 1, at[2] + 1}}, On::cells, {}, found);
    if (found.empty()) return {};
    return Place{found.front().patch, IndexMap{found.front().shift, found.front().axes}.inverse()(at)};
}

std::vector<int> Zones::order() const {
    std::vector<int> all;
    all.reserve(static_cast<std::size_t>(patches()));
    for (const ZoneList::Zone& zone : list_.zones_)
        for (const int patch : zone.grid->order()) all.push_back(zone.first_patch + patch);
    return all;
}

std::vector<int> Zones::neighbours(int patch) const {
    const ZoneList::Zone& zone = of(patch);
    std::vector<int> near = zone.grid->neighbours(patch - zone.first_patch);
    for (int& other : near) other += zone.first_patch;
    std::vector<Meeting> met;
    const Box cells = box(patch);
    for (std::size_t a = 0; a < 3; ++a)
        for (const bool upper : {false, true}) {
            if ((upper ? cells.hi[a] != zone.cells().hi[a] : cells.lo[a] != zone.cells().lo[a]) ||
                !zone.joined(a, upper))
                continue;
            Box beyond = cells;
            beyond.lo[a] = upper ? cells.hi[a] : cells.lo[a] - 1;
            beyond.hi[a] = beyond.lo[a] + 1;
            find_owners_in(zone_of(patch), beyond, On::cells, {}, met);
            for (const Meeting& each : met) near.push_back(each.patch);
        }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    near.erase(std::remove(near.begin(), near.end(), patch), near.end());
    return near;
}

}  // namespace strata::graph
