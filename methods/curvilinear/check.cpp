// What cells must be: of positive volume, their nodes numbers.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"
#include "methods/curvilinear/metrics.hpp"
#include "methods/curvilinear/piece.hpp"
#include "methods/curvilinear/ranges.hpp"
#include "methods/curvilinear/read.hpp"

namespace strata::flow {

Piece nodes_of(const GridSource& source, int zone, const Box& cells) {
    Box nodes = cells;
    for (int d = 0; d < source.dimensions(); ++d) ++nodes.hi[static_cast<std::size_t>(d)];
    Piece piece(nodes, source.dimensions());
    source.nodes(zone, nodes, piece.data());
    return piece;
}

namespace {

/// Holes are for grids that overlap: where zones are joined nothing would be known beyond them.
void refuse_holes(const GridSource& source, int zone, const Box& nodes) {
    std::vector<std::int32_t> blanks(static_cast<std::size_t>(nodes.volume()));
    source.blanks(zone, nodes, blanks.data());
    std::size_t n = 0;
    graph::for_each(nodes, [&](int i, int j, int k) {
        const std::int32_t blank = blanks[n++];
        if (blank != 0 && blank != 101) return;
        throw Error(fmt::format("node {} of {} is {}", node_text(source, zone, {i, j, k}),
                                zone_text(source, zone), blank == 0 ? "a hole" : "an orphan"))
            .given(fmt::format("iblank {}", blank))
            .allowed(
                "1 (field), 2 (wall), below 0 (joined): zones that are joined have no holes; meshes that "
                "overlap may");
    });
}

}  // namespace

std::vector<std::uint8_t> blanked_cells(const GridSource& source, int zone, const Box& cells) {
    Box nodes = cells;
    for (int d = 0; d < source.dimensions(); ++d) ++nodes.hi[static_cast<std::size_t>(d)];
    std::vector<std::int32_t> blanks(static_cast<std::size_t>(nodes.volume()));
    source.blanks(zone, nodes, blanks.data());
    std::vector<std::uint8_t> found;
    const std::int64_t y = nodes.extent(0), z = y * nodes.extent(1);
    graph::for_each(cells, [&](int i, int j, int k) {
        const std::int64_t low = (i - nodes.lo[0]) + y * (j - nodes.lo[1]) + z * (k - nodes.lo[2]);
        bool any = false;
        for (int n = 0; n < 1 << source.dimensions(); ++n)
            any =
                any || blanks[static_cast<std::size_t>(low + (n & 1) + y * (n >> 1 & 1) + z * (n >> 2))] == 0;
        found.push_back(any ? 1 : 0);
    });
    return found;
}

void check_cells(const GridSource& source, int zone, const Box& cells, bool holes) {
    const Piece nodes = nodes_of(source, zone, cells);
    const auto x = nodes.view();
    if (source.has_blanks() && !holes) refuse_holes(source, zone, x.box());
    for (int d = 0; d < source.dimensions(); ++d)
        graph::for_each(x.box(), [&](int i, int j, int k) {
            if (std::isfinite(x(i, j, k, d))) return;
            throw Error(fmt::format("a coordinate of node {} of {} is no number",
                                    node_text(source, zone, {i, j, k}), zone_text(source, zone)))
                .given(fmt::format("{} = {}", "xyz"[d], without_nan_sign(x(i, j, k, d))));
        });
    Piece volume(cells, 1);
    if (source.dimensions() == 2)
        volumes<2>(cells, x, volume.view());
    else
        volumes<3>(cells, x, volume.view());
    const auto v = volume.view();
    graph::for_each(cells, [&](int i, int j, int k) {
        if (v(i, j, k) > 0) return;
        throw Error(fmt::format("cell {} of {} has no positive volume", cell_text(source, zone, {i, j, k}),
                                zone_text(source, zone)))
            .given(fmt::format("{:.6g}, lowest corner at ({:.9g}, {:.9g}{})", v(i, j, k), x(i, j, k, 0),
                               x(i, j, k, 1),
                               source.dimensions() == 3 ? fmt::format(", {:.9g}", x(i, j, k, 2)) : ""))
            .allowed("above 0")
            .remedy("mend the grid: its lines cross there, or points coincide");
    });
}

}  // namespace strata::flow
