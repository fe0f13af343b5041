#include "benchmarks/npb/mz/mesh.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace strata::npb::mz {
namespace {

using flow::Cell;
using flow::kComponents;

/// The points of one side of a zone, without those on other sides: on the side itself, or one within.
struct Layer {
    bool across;  // in x: a column of each plane; else a row
    std::int64_t at, points;

    Layer(const Index& size, std::size_t side, bool within) : across(side < 2) {
        const std::int64_t n = size[across ? 0 : 1], depth = within ? 1 : 0;
        at = side % 2 == 0 ? depth : n - 1 - depth;
        points = size[across ? 1 : 0] - 2;
    }
    /// The first one of a plane, and how far the next is.
    [[nodiscard]] double* begin(const Cell& cell, int m, std::int64_t z) const {
        return across ? &cell.u.at(m, at, 1, z) : &cell.u.at(m, 1, at, z);
    }
    [[nodiscard]] std::int64_t step(const Cell& cell) const { return across ? cell.u.line : 1; }
};

/// body(plane within the boundary, component) for a worker's part.
template <class Body>
void for_planes(const flow::Part& part, Body&& body) {
    for (std::int64_t plane = part.begin; plane < part.end; ++plane)
        for (int m = 0; m < kComponents; ++m) body(plane, m);
}

void copy(const double* from, std::int64_t from_step, double* to, std::int64_t to_step, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

std::size_t doubles_of(const Index& size, std::size_t side) {
    return static_cast<std::size_t>((size[side < 2 ? 1 : 0] - 2) * (size[2] - 2) * kComponents);
}

constexpr std::size_t opposite(std::size_t side) { return side ^ 1U; }

}  // namespace

Mesh::Laid Mesh::lay(const Zones& zones, const Assignment& assignment, const Group& group) {
    const bool ranks = group.size() > 1;
    Laid laid;
    laid.counts = ranks ? std::vector<int>{group.workers()} : assignment.threads;
    for (std::size_t z = 0; z < zones.count(); ++z) {
        if (ranks && assignment.owners[z] != group.rank()) continue;
        const Index size = zones.size(z);
        laid.zones.push_back(z);
        laid.cells.push_back({{}, flow::Tile::whole(size, zones.scale), {}, {}, {}});
        laid.owners.push_back(ranks ? 0 : assignment.owners[z]);
        laid.costs.push_back(cost_of(size));
    }
    return laid;
}

Mesh::Mesh(const Zones& zones, const Assignment& assignment, Group& group)
    : Mesh(zones, assignment, group, lay(zones, assignment, group)) {}

Mesh::Mesh(const Zones& zones, const Assignment& assignment, Group& group, Laid laid)
    : Cells(laid.cells,
            flow::Division::by_cost(flow::tiles_of(laid.cells), laid.costs, laid.owners, laid.counts),
            group) {
    int first = 0;
    for (std::size_t g = 0; g < laid.counts.size(); ++g) {
        crews_.push_back({{}, first, laid.counts[g]});
        first += laid.counts[g];
        for (std::size_t c = 0; c < laid.owners.size(); ++c)
            if (laid.owners[c] == static_cast<int>(g)) crews_.back().cells.push_back(c);
    }
    find_neighbours(zones, assignment, laid.zones);
}

void Mesh::find_neighbours(const Zones& zones, const Assignment& assignment,
                           const std::vector<std::size_t>& mine) {
    std::map<std::size_t, std::size_t> cell_of;
    for (std::size_t c = 0; c < mine.size(); ++c) cell_of[mine[c]] = c;
    neighbours_.resize(mine.size());
    incoming_.resize(mine.size());
    outgoing_.resize(mine.size());
    // Both ends order a message by the zone that receives and its side.
    struct Received {
        std::size_t zone, side;
    };
    std::map<int, std::vector<Received>> in, out;
    for (std::size_t z = 0; z < zones.count(); ++z)
        for (std::size_t side = 0; side < kSides; ++side) {
            const std::size_t next = zones.neighbour(z, side);
            const auto here = cell_of.find(z), there = cell_of.find(next);
            if (here != cell_of.end())
                neighbours_[here->second][side] = there == cell_of.end() ? kElsewhere : there->second;
            if (here != cell_of.end() && there == cell_of.end())
                in[assignment.owners[next]].push_back({z, side});
            if (here == cell_of.end() && there != cell_of.end())
                out[assignment.owners[z]].push_back({z, side});
        }
    std::size_t at = 0;
    for (const auto& [rank, sides] : in) {
        std::size_t to = at, from = at;
        for (const Received& r : sides) {
            incoming_[cell_of[r.zone]].push_back({r.side, to});
            to += doubles_of(zones.size(r.zone), r.side);
        }
        for (const Received& r : out[rank]) {
            outgoing_[cell_of[zones.neighbour(r.zone, r.side)]].push_back({opposite(r.side), from});
            from += doubles_of(zones.size(r.zone), r.side);
        }
        peers_.push_back({rank, at, to});
        at = to;
    }
    in_.resize(at);
    out_.resize(at);
}

std::vector<Need> Mesh::needs(const Zones& zones, int ranks, int workers) {
    std::vector<flow::Tile> tiles;
    for (std::size_t z = 0; z < zones.count(); ++z)
        tiles.push_back(flow::Tile::whole(zones.size(z), zones.scale));
    std::vector<Need> needs = Cells::needs(tiles, workers);
    for (Need& need : needs)
        if (need.what != "planes under work") need.bytes /= static_cast<std::uint64_t>(ranks);
    return needs;
}

void Mesh::exchange() {
    if (!peers_.empty()) {
        each([&](const flow::Work& work) {
            for (const Side& side : outgoing_[work.index]) {
                const Layer layer(work.cell.tile.size, side.side, true);
                for_planes(work.part, [&](std::int64_t plane, int m) {
                    copy(layer.begin(work.cell, m, plane + 1), layer.step(work.cell),
                         out_.data() + side.at +
                             static_cast<std::size_t>((plane * kComponents + m) * layer.points),
                         1, layer.points);
                });
            }
        });
        std::vector<Shift> shifts;
        for (const Peer& peer : peers_) {
            const std::size_t count = peer.end - peer.begin;
            shifts.push_back({peer.rank, peer.rank, std::as_bytes(std::span(out_).subspan(peer.begin, count)),
                              std::as_writable_bytes(std::span(in_).subspan(peer.begin, count))});
        }
        group().exchange(shifts);
    }
    each([&](const flow::Work& work) {
        for (std::size_t side = 0; side < kSides; ++side) {
            const std::size_t next = neighbours_[work.index][side];
            if (next == kElsewhere) continue;
            const Cell& from = cells()[next];
            const Layer to(work.cell.tile.size, side, false), within(from.tile.size, opposite(side), true);
            for_planes(work.part, [&](std::int64_t plane, int m) {
                copy(within.begin(from, m, plane + 1), within.step(from), to.begin(work.cell, m, plane + 1),
                     to.step(work.cell), to.points);
            });
        }
        for (const Side& side : incoming_[work.index]) {
            const Layer to(work.cell.tile.size, side.side, false);
            for_planes(work.part, [&](std::int64_t plane, int m) {
                copy(in_.data() + side.at + static_cast<std::size_t>((plane * kComponents + m) * to.points),
                     1, to.begin(work.cell, m, plane + 1), to.step(work.cell), to.points);
            });
        }
    });
}

flow::State Mesh::norm(const std::vector<flow::State>& sums) const {
    flow::State total{};
    for (std::size_t c = 0; c < sums.size(); ++c) {
        const Index& n = cells()[c].tile.n;
        const auto points = static_cast<double>((n[0] - 2) * (n[1] - 2) * (n[2] - 2));
        for (std::size_t m = 0; m < kComponents; ++m) total[m] += std::sqrt(sums[c][m] / points);
    }
    group().sum(total);
    return total;
}

}  // namespace strata::npb::mz
