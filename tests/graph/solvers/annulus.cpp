#include "tests/graph/solvers/annulus.hpp"

#include <cmath>
#include <numbers>

#include "tests/graph/particles/cloud.hpp"

namespace strata::tests {

using namespace graph;

namespace {

/// Of a sector's angle, so many times: cosine and sine.
std::array<double, 2> turned(int sectors, int times) {
    times = (times % sectors + sectors) % sectors;
    if (4 * times % sectors == 0) {
        constexpr std::array<std::array<double, 2>, 4> quarters{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
        return quarters[z(4 * times / sectors)];
    }
    const double angle = 2 * std::numbers::pi * times / sectors;
    return {std::cos(angle), std::sin(angle)};
}

/// One cell's values after a step, from those around: at(ring, place, c) has v for c = 0 .. 2 and s for 3.
template <class At, class To>
void advance(int ring, int place, int reach, const At& at, const To& to) {
    std::array<double, 4> sums{};
    for (int j = -reach; j <= reach; ++j)
        for (int i = -1; i <= 1; ++i) {
            if (ring + i < 0 || ring + i >= Annulus::kRings) continue;
            const double weight = 0.3 / (1 + i * i + std::abs(j)) + 0.01 * i + 0.02 * j;
            for (int c = 0; c < 4; ++c) sums[z(c)] += weight * at(ring + i, place + j, c);
        }
    const double square = (sums[0] * sums[0] + sums[1] * sums[1]) + sums[2] * sums[2];
    for (int c = 0; c < 3; ++c) to(c, sums[z(c)] * (0.5 + 0.1 * sums[3] / (1 + std::abs(sums[3]))));
    to(3, 0.25 * sums[3] + 0.125 * square);
}

/// w in place, from its neighbours along the circle as they were, and v.
double follow(double here, double below, double above, double v) {
    return 0.5 * here + 0.125 * (below + above) + 0.25 * v;
}

}  // namespace

Annulus::Annulus(int sectors, int across, int zones, int reach)
    : Solver("annulus"), sectors_(sectors), across_(across), zones_(zones), reach_(reach) {
    const auto [c, s] = turned(sectors, 1);
    const Rotation turn{{{c, -s, 0}, {s, c, 0}, {0, 0, 1}}};
    ZoneList list("annulus");
    for (int k = 0; k < zones; ++k) list.zone({{0, 0, 0}, {kRings, across, 1}}, {3, 2, 1});
    for (int k = 0; k < zones; ++k)
        list.join(k, Face{1, true}, (k + 1) % zones, Face{1, false}, {1, 2, 3}, turn);
    grid = &graph.add<Zones>(std::move(list));
    declare();
}

std::array<double, 3> Annulus::seen(const std::array<double, 3>& vector, int from, int to) const {
    const auto [c, s] = turned(sectors_, from - to);
    if (s == 0) return {c * vector[0], c * vector[1], vector[2]};
    if (c == 0) return {-s * vector[1], s * vector[0], vector[2]};
    return {c * vector[0] - s * vector[1], s * vector[0] + c * vector[1], vector[2]};
}

/// Where all sectors are alike, a sector's vectors are those of sector 0, turned.
Annulus::Cell Annulus::first(int ring, int place) const {
    const bool alike = zones_ < sectors_;
    const int sector = place / across_, at = alike ? place % across_ : place;
    Cell cell;
    for (int c = 0; c < 7; ++c) {
        const double value = dice(z(ring + kRings * at), z(c));
        (c < 3 ? cell.v[z(c)] : c < 6 ? cell.w[z(c - 3)] : cell.s) = value;
    }
    if (alike) cell.v = seen(cell.v, sector, 0), cell.w = seen(cell.w, sector, 0);
    return cell;
}

void Annulus::declare() {
    v = graph.field<double>("v", *grid, On::cells, {.components = 3, .history = 1, .turns = true});
    w = graph.field<double>("w", *grid, On::cells, {.components = 3, .turns = true});
    s = graph.field<double>("s", *grid, On::cells, {.history = 1});
    {
        Task task = graph.start().task("first", *grid);
        task.run([=, this, v = task.make(v), w = task.make(w), s = task.make(s)](Here& here) {
            const int zone = grid->zone_of(here.patch);
            const Box box = here.cells();
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) {
                    const Cell cell = first(i, zone * across_ + j);
                    const auto a = seen(cell.v, 0, zone), b = seen(cell.w, 0, zone);
                    for (int c = 0; c < 3; ++c) here[v](i, j, 0, c) = a[z(c)], here[w](i, j, 0, c) = b[z(c)];
                    here[s](i, j) = cell.s;
                }
        });
    }
    {
        Task task = graph.step().task("advance", *grid);
        const auto old = task.need(v.previous(), ghosts({1, reach_, 0}));
        const auto scalar = task.need(s.previous(), ghosts({1, reach_, 0}));
        task.run([=, this, v = task.make(v), s = task.make(s)](Here& here) {
            const Box box = here.cells();
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i)
                    advance(
                        i, j, reach_,
                        [&](int ring, int place, int c) {
                            return c == 3 ? here[scalar](ring, place) : here[old](ring, place, 0, c);
                        },
                        [&](int c, double value) { (c == 3 ? here[s](i, j) : here[v](i, j, 0, c)) = value; });
        });
    }
    Task task = graph.step().task("follow", *grid);
    task.run([=, v = task.need(v), w = task.modify(w, ghosts({0, 1, 0}))](Here& here) {
        const Box box = here.cells();
        for (int c = 0; c < 3; ++c)
            for (int i = box.lo[0]; i < box.hi[0]; ++i) {
                double below = here[w](i, box.lo[1] - 1, 0, c);
                for (int j = box.lo[1]; j < box.hi[1]; ++j) {
                    const double own = here[w](i, j, 0, c);
                    here[w](i, j, 0, c) = follow(own, below, here[w](i, j + 1, 0, c), here[v](i, j, 0, c));
                    below = own;
                }
            }
    });
}

std::vector<Annulus::Cell> Annulus::reference(int steps) const {
    const int n = sectors_ * across_;
    std::vector<Cell> all(z(n * kRings));
    const auto at = [&](const std::vector<Cell>& of, int ring, int place) -> const Cell& {
        return of[z(ring + kRings * ((place % n + n) % n))];
    };
    for (int place = 0; place < n; ++place)
        for (int ring = 0; ring < kRings; ++ring) all[z(ring + kRings * place)] = first(ring, place);
    for (int step = 0; step < steps; ++step) {
        const std::vector<Cell> old = all;
        for (int place = 0; place < n; ++place)
            for (int ring = 0; ring < kRings; ++ring) {
                Cell& cell = all[z(ring + kRings * place)];
                advance(
                    ring, place, reach_,
                    [&](int i, int j, int c) { return c == 3 ? at(old, i, j).s : at(old, i, j).v[z(c)]; },
                    [&](int c, double value) { (c == 3 ? cell.s : cell.v[z(c)]) = value; });
                for (std::size_t c = 0; c < 3; ++c)
                    cell.w[c] = follow(at(old, ring, place).w[c], at(old, ring, place - 1).w[c],
                                       at(old, ring, place + 1).w[c], cell.v[c]);
            }
    }
    return all;
}

std::vector<Annulus::Cell> Annulus::values(const Simulation& run) const {
    std::vector<Cell> all(z(zones_ * across_ * kRings));
    for (int p = 0; p < grid->patches(); ++p) {
        const Box box = grid->box(p);
        const int zone = grid->zone_of(p);
        const auto vs = values_of<double>(run, v.id(), p), ws = values_of<double>(run, w.id(), p),
                   ss = values_of<double>(run, s.id(), p);
        std::size_t at = 0;
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i, ++at) {
                Cell& cell = all[z(i + kRings * (zone * across_ + j))];
                for (std::size_t c = 0; c < 3; ++c)
                    cell.v[c] = vs.at(at + c * ss.size()), cell.w[c] = ws.at(at + c * ss.size());
                cell.v = seen(cell.v, zone, 0), cell.w = seen(cell.w, zone, 0), cell.s = ss.at(at);
            }
    }
    return all;
}

}  // namespace strata::tests
