#include "solvers/flow/overset_quality.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/flow/geometry.hpp"

namespace strata::flow {

using namespace graph;

template <int Dim>
void find_quality(Graph& graph, const FlowZones& grid, const Labels& labels, Scalars<double> worst) {
    Task task = graph.start().task("quality of cells", grid.zones());
    task.run([&grid, geometry = task.need(labels.geometry), to = task.contribute(worst)](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const auto x = of.nodes(here[geometry]);
        const auto volumes = of.volumes(here[geometry]);
        std::array<double, kQualities> most{};
        const auto node = [&](const Int3& at) {
            Real3 place{};
            for (int d = 0; d < Dim; ++d) place[static_cast<std::size_t>(d)] = x(at[0], at[1], at[2], d);
            return place;
        };
        for_each(here.cells(), [&](int i, int j, int k) {
            double longest = 0, shortest = 1e300;
            for (int c = 0; c < 1 << Dim; ++c) {
                const Int3 corner{i + (c & 1), j + (c >> 1 & 1), k + (c >> 2 & 1)};
                const Real3 here_x = node(corner);
                std::array<Real3, Dim> edge;
                std::array<double, Dim> length{};
                for (std::size_t a = 0; a < Dim; ++a) {
                    Int3 other = corner;
                    other[a] += (c >> a & 1) != 0 ? -1 : 1;
                    const Real3 there = node(other);
                    for (std::size_t d = 0; d < 3; ++d) {
                        edge[a][d] = there[d] - here_x[d];
                        length[a] += edge[a][d] * edge[a][d];
                    }
                    length[a] = std::sqrt(length[a]);
                    if (length[a] > 0)
                        longest = std::max(longest, length[a]), shortest = std::min(shortest, length[a]);
                }
                for (std::size_t a = 0; a < Dim; ++a)
                    for (std::size_t b = 0; b < a; ++b) {
                        double dot = 0;
                        for (std::size_t d = 0; d < 3; ++d) dot += edge[a][d] * edge[b][d];
                        if (length[a] > 0 && length[b] > 0)
                            most[kSkew] =
                                std::max(most[kSkew],
                                         std::asin(std::min(1.0, std::abs(dot) / (length[a] * length[b]))) *
                                             57.29577951308232);
                    }
            }
            most[kAspect] = std::max(most[kAspect], longest / shortest);
            for (std::size_t a = 0; a < Dim; ++a) {
                Int3 next{i, j, k};
                --next[a];
                const double here_v = volumes(i, j, k), there_v = volumes(next[0], next[1], next[2]);
                if (there_v > 0)
                    most[kGrowth] = std::max({most[kGrowth], here_v / there_v, there_v / here_v});
            }
        });
        here[to].resize(std::int64_t{kQualities} * grid.zones().zones());
        for (int q = 0; q < kQualities; ++q)
            here[to][std::int64_t{kQualities} * grid.zones().zone_of(here.patch) + q] =
                most[static_cast<std::size_t>(q)];
    });
}

template void find_quality<2>(Graph&, const FlowZones&, const Labels&, Scalars<double>);
template void find_quality<3>(Graph&, const FlowZones&, const Labels&, Scalars<double>);

}  // namespace strata::flow
