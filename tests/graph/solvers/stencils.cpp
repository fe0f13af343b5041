#include "tests/graph/solvers/stencils.hpp"

#include <algorithm>
#include <cmath>

namespace strata::tests {

using namespace graph;

namespace {

double first_value(const Int3& at) { return std::sin(1 + at[0] + 3.7 * at[1] + 11.3 * at[2]); }

/// Different for each direction, so that a cell from a wrong place is seen; their sum is below 1.
double weight(const Int3& by, const Int3& reach) {
    const double all = (2 * reach[0] + 1) * (2 * reach[1] + 1) * (2 * reach[2] + 1);
    return (1 + 0.01 * by[0] + 0.013 * by[1] + 0.017 * by[2]) / (1.2 * all);
}

/// each(displacement) in the order of the domain's indices.
template <class Each>
void around_of(const Int3& reach, Each each) {
    for (int k = -reach[2]; k <= reach[2]; ++k)
        for (int j = -reach[1]; j <= reach[1]; ++j)
            for (int i = -reach[0]; i <= reach[0]; ++i) each(Int3{i, j, k});
}

template <class Each>
void each_cell(const Box& box, Each each) {
    for (int k = box.lo[2]; k < box.hi[2]; ++k)
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i) each(Int3{i, j, k});
}

Int3 sum(const Int3& a, const Int3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

/// Within the domain, or beyond a periodic border of it.
bool exists(const Domain& domain, const Int3& at) {
    for (std::size_t a = 0; a < 3; ++a)
        if (!domain.periodic[a] && (at[a] < domain.cells.lo[a] || at[a] >= domain.cells.hi[a])) return false;
    return true;
}

/// The corners of cells: where axes run backwards, a cell has the number of its other corner.
Int3 node(const IndexMap& cells, const Int3& at) {
    Int3 to = cells(at);
    for (std::size_t a = 0; a < 3; ++a) to[a] += cells.backwards(a) ? 1 : 0;
    return to;
}

/// Joins the upper side of a part along an axis with the lower side of another one, where these meet.
void join_side(ZoneList& list, const std::vector<ZonePart>& parts, std::size_t one, std::size_t other,
               std::size_t axis, int period) {
    const Box& a = parts[one].cells;
    Int3 away{};
    away[axis] = period;
    const Box b = parts[other].cells.shifted(away);
    Box both = common(a, b);
    if (a.hi[axis] != b.lo[axis]) return;
    both.lo[axis] = both.hi[axis] = a.hi[axis];
    for (std::size_t t = 0; t < 3; ++t)
        if (t != axis && both.lo[t] >= both.hi[t]) return;
    const IndexMap to_a = parts[one].to_zone();
    const IndexMap to_b = parts[other].to_zone().after(IndexMap{{-away[0], -away[1], -away[2]}});
    const IndexMap b_to_a = to_a.after(to_b.inverse());
    ZoneList::Points points{node(to_a, both.lo), node(to_a, both.hi)}, there;
    for (std::size_t t = 0; t < 3; ++t)
        if (points.begin[t] > points.end[t]) std::swap(points.begin[t], points.end[t]);
    const IndexMap from_a = to_b.after(to_a.inverse());
    there = {node(from_a, points.begin), node(from_a, points.end)};
    list.join_parts(static_cast<int>(one), points, static_cast<int>(other), there,
                    {b_to_a.axes[0], b_to_a.axes[1], b_to_a.axes[2]});
}

}  // namespace

IndexMap ZonePart::to_zone() const {
    IndexMap map{{}, axes};
    const Box at = map(cells);
    for (std::size_t a = 0; a < 3; ++a) map.shift[a] = first[a] - at.lo[a];
    return map;
}

ZoneList joined(const std::string& name, const Domain& domain, const std::vector<ZonePart>& parts) {
    ZoneList list(name);
    for (const ZonePart& part : parts) list.zone(part.to_zone()(part.cells), part.patch_cells);
    for (std::size_t a = 0; a < 3; ++a)
        for (std::size_t one = 0; one < parts.size(); ++one)
            for (std::size_t other = 0; other < parts.size(); ++other) {
                join_side(list, parts, one, other, a, 0);
                if (domain.periodic[a])
                    join_side(list, parts, one, other, a, domain.cells.extent(static_cast<int>(a)));
            }
    return list;
}

Stencil::Stencil(const Domain& domain, const Int3& patch_cells, const Int3& reach)
    : Solver("stencil"), domain_(domain), reach_(reach), to_zone_(1) {
    grid =
        &graph.grid("grid", {.cells = domain.cells, .patch_cells = patch_cells, .periodic = domain.periodic});
    declare();
}

Stencil::Stencil(const Domain& domain, const std::vector<ZonePart>& parts, const Int3& reach)
    : Solver("zones"), domain_(domain), reach_(reach) {
    for (const ZonePart& part : parts) to_zone_.push_back(part.to_zone());
    grid = &graph.add<Zones>(joined("zones", domain, parts));
    declare();
}

void Stencil::declare() {
    u = graph.field<double>("u", *grid, On::cells, {.history = 1});
    Int3 width{};  // along the axes of zones
    for (const IndexMap& map : to_zone_)
        for (std::size_t a = 0; a < 3; ++a) width[a] = std::max(width[a], reach_[map.axis(a)]);
    {
        Task task = graph.start().task("first", *grid);
        const auto now = task.make(u);
        task.run([this, now](Here& here) {
            const IndexMap from = to_zone_[z(grid->zone_of(here.patch))].inverse();
            each_cell(here.cells(),
                      [&](const Int3& at) { here[now](at[0], at[1], at[2]) = first_value(from(at)); });
        });
    }
    Task task = graph.step().task("average", *grid);
    const auto old = task.need(u.previous(), ghosts(width));
    const auto now = task.make(u);
    task.run([this, old, now](Here& here) {
        const IndexMap to = to_zone_[z(grid->zone_of(here.patch))], from = to.inverse();
        const auto before = here[old];
        each_cell(here.cells(), [&](const Int3& at) {
            double value = 0;
            around_of(reach_, [&](const Int3& by) {
                const Int3 there = sum(from(at), by);
                if (!exists(domain_, there)) return;
                const Int3 here_at = to(there);
                value += weight(by, reach_) * before(here_at[0], here_at[1], here_at[2]);
            });
            here[now](at[0], at[1], at[2]) = value;
        });
    });
}

std::vector<double> Stencil::values(const Simulation& run) const {
    const Box& all = domain_.cells;
    std::vector<double> values(z(all.volume()));
    for (int patch = 0; patch < grid->patches(); ++patch) {
        const IndexMap from = to_zone_[z(grid->zone_of(patch))].inverse();
        const std::vector<double> own = values_of<double>(run, u.id(), patch);
        std::size_t i = 0;
        each_cell(grid->box(patch), [&](const Int3& at) {
            const Int3 there = from(at);
            values[z(there[0] - all.lo[0] +
                     all.extent(0) * (there[1] - all.lo[1] +
                                      std::int64_t{all.extent(1)} * (there[2] - all.lo[2])))] = own.at(i++);
        });
    }
    return values;
}

std::vector<double> Stencil::reference(const Domain& domain, const Int3& reach, int steps) {
    const Box& all = domain.cells;
    const auto index = [&](Int3 at) {
        for (std::size_t a = 0; a < 3; ++a) {
            const int n = all.extent(static_cast<int>(a));
            at[a] = ((at[a] - all.lo[a]) % n + n) % n;
        }
        return z(at[0] + all.extent(0) * (at[1] + std::int64_t{all.extent(1)} * at[2]));
    };
    std::vector<double> now(z(all.volume())), next(now.size());
    each_cell(all, [&](const Int3& at) { now[index(at)] = first_value(at); });
    for (int step = 0; step < steps; ++step) {
        each_cell(all, [&](const Int3& at) {
            double value = 0;
            around_of(reach, [&](const Int3& by) {
                const Int3 there = sum(at, by);
                if (exists(domain, there)) value += weight(by, reach) * now[index(there)];
            });
            next[index(at)] = value;
        });
        now.swap(next);
    }
    return now;
}

std::unique_ptr<Stencil> three_blocks() {
    // One block on the left, two on the right, above each other; x of the upper one is the domain's -y, and
    // the lower one's axes are all others.
    const Domain domain{{{0, 0, 0}, {12, 10, 5}}, {}};
    return std::make_unique<Stencil>(
        domain,
        std::vector<ZonePart>{{{{0, 0, 0}, {5, 10, 5}}, {1, 2, 3}, {0, 0, 0}, {3, 4, 5}},
                              {{{5, 4, 0}, {12, 10, 5}}, {-2, 1, 3}, {1, 1, 1}, {4, 2, 3}},
                              {{{5, 0, 0}, {12, 4, 5}}, {3, -1, -2}, {-7, 4, 20}, {2, 7, 2}}},
        Int3{2, 2, 1});
}

std::unique_ptr<Stencil> narrow_patches() {
    return std::make_unique<Stencil>(Domain{{{0, 0, 0}, {2, 9, 4}}, {true, false, true}}, Int3{2, 2, 1},
                                     Int3{3, 3, 3});
}

}  // namespace strata::tests
