#include "core/run/driver/own_rows.hpp"

#include "core/graph/expand/plan.hpp"

namespace strata::graph {

std::vector<OwnRows> own_rows(const Simulation& simulation, Field<double> field) {
    const Graph& graph = simulation.plan().graph();
    const LabelInfo& label = graph.labels()[field.id()];
    const auto& grid = static_cast<const Grid&>(*label.family);
    const auto& patches = simulation.plan().memory().patches()[number_of(graph, grid)];
    std::vector<OwnRows> all;
    std::int64_t number = 0;
    for (const Kept& kept : kept_versions(simulation.plan())) {
        if (kept.label != field.id() || kept.back != 0) continue;
        for (std::size_t p = 0; p < patches.size(); ++p) {
            const Box with_border = grid.owned(patches[p], label.on, label.border);
            const BoxCopy there = simulation.values_in_place(kept, static_cast<int>(p));
            OwnRows rows{grid.owned(patches[p], label.on), number, there.from, there.from_strides};
            rows.first += static_cast<std::int64_t>(sizeof(double)) * (rows.own.lo[0] - with_border.lo[0]) +
                          rows.strides.row * (rows.own.lo[1] - with_border.lo[1]) +
                          rows.strides.plane * (rows.own.lo[2] - with_border.lo[2]);
            number += rows.count();
            all.push_back(rows);
        }
    }
    return all;
}

}  // namespace strata::graph
