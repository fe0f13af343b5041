#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "methods/curvilinear/face_nodes.hpp"
#include "methods/curvilinear/join.hpp"
#include "methods/curvilinear/ranges.hpp"

namespace strata::flow {

void check_joins(const GridSystem& system) {
    const GridSource& source = *system.source;
    for (const JoinRange& join : system.joins) {
        const FaceNodes here(source, join.zone, join.points),
            there(source, join.donor, upward(join.donor_points));
        Box nodes;
        for (std::size_t a = 0; a < 3; ++a)
            nodes.lo[a] = join.points.begin[a], nodes.hi[a] = join.points.end[a] + 1;
        if (system.dimensions == 2) nodes.lo[2] = 0, nodes.hi[2] = 1;
        graph::for_each(nodes, [&](int i, int j, int k) {
            const Int3 node{i, j, k}, donor = donor_point(join, node);
            const Real3 x = here(node), y = image(join.turn, join.shift, there(donor));
            const double apart = distance(x, y), most = kMatch * here.shortest_edge(node);
            if (apart <= most) return;
            throw Error(fmt::format("node {} of {} is joined with node {} of {}, which is another place",
                                    node_text(source, join.zone, node), zone_text(source, join.zone),
                                    node_text(source, join.donor, donor), zone_text(source, join.donor)))
                .given(fmt::format("({:.9g}, {:.9g}, {:.9g}) and ({:.9g}, {:.9g}, {:.9g}), {:.3g} apart",
                                   x[0], x[1], x[2], y[0], y[1], y[2], apart))
                .allowed(fmt::format("up to {:.3g} apart, {} of the shortest edge there", most, kMatch))
                .remedy("does the range of one side run the other way, or does its last word (swap) differ?");
        });
    }
}

void check_connected(const GridSystem& system) {
    const auto zones = system.source->zones().size();
    std::vector<std::vector<int>> next(zones);
    for (const JoinRange& join : system.joins) {
        next[static_cast<std::size_t>(join.zone)].push_back(join.donor);
        next[static_cast<std::size_t>(join.donor)].push_back(join.zone);
    }
    std::vector<char> reached(zones);
    std::vector<int> todo{0};
    reached[0] = 1;
    while (!todo.empty()) {
        const int zone = todo.back();
        todo.pop_back();
        for (const int other : next[static_cast<std::size_t>(zone)])
            if (std::exchange(reached[static_cast<std::size_t>(other)], 1) == 0) todo.push_back(other);
    }
    const auto lost = std::find(reached.begin(), reached.end(), 0);
    if (lost == reached.end()) return;
    const int zone = static_cast<int>(lost - reached.begin());
    throw Error(fmt::format("{} touches no zone to which {} is joined", zone_text(*system.source, zone),
                            zone_text(*system.source, 0)))
        .given(fmt::format("{} joins, none from there to here", system.joins.size()))
        .allowed("a way through joins to every zone")
        .remedy(
            fmt::format("points of faces that are one must match, to {} of the shortest edge at them; grids "
                        "that overlap are meshes of a case, [mesh.NAME]",
                        kMatch));
}

}  // namespace strata::flow
