// Forces of tabulated pairs on the graph.
#include "solvers/md/over_pairs.hpp"

namespace strata::md {

using namespace graph;

void find_table_forces(const Step& step, Scope& scope) {
    const Labels& l = step.labels;
    Task task = scope.task(scope.id() == kStart ? "first forces of tables" : "forces of tables", step.grid);
    const auto force = task.sum(l.force, l.near);
    const auto sums = task.contribute(l.sums);
    over_pairs(step, task, [=, &s = step.settings](Here& here, const Sight& sight, const Pairs& pairs) {
        double* f[3];
        pointers(here[force], f);
        const Sums found = add_table_forces(pairs, sight, static_cast<int>(s.kinds.size()), s.tables, f);
        if (!s.sums_due(here.step)) return;
        here[sums].resize(kSums);
        here[sums][kPotential] = found.energy;
        for (std::size_t c = 0; c < 6; ++c) here[sums][kVirial + c] = found.virial[c];
    });
}

}  // namespace strata::md
