// What a task needs that loops over the pairs of a patch, for potentials without a kernel.
#pragma once

#include "solvers/md/step.hpp"

namespace strata::md {

/// Declares it, and calls work(here, sight, pairs).
template <class Work>
void over_pairs(const Step& step, graph::Task& task, Work work) {
    const Labels& l = step.labels;
    const auto x = task.need(l.x, l.near);
    const auto around = task.sizes(l.near);
    const auto list = task.need(l.neighbours);
    const auto way = task.need(l.way);
    const bool boxed = step.settings.changes_volume();
    const auto scale = task.need(l.scale);
    task.run([=, &s = step.settings](graph::Here& here) {
        const double* place[3];
        pointers(here[x], place);
        Sight sight{
            {place[0], place[1], place[2]}, here[list].species(), here[around].own(), here[around].size()};
        if (!boxed) return work(here, sight, here[list].near(sight, s.cutoff, here[way], s.margin));
        // Lists are of the first box, what is computed with them of the present one.
        const Pairs& pairs = here[list].near(sight, s.cutoff / here[scale], here[way], s.margin);
        static thread_local std::vector<double> real[3];
        for (std::size_t c = 0; c < 3; ++c) {
            real[c].resize(static_cast<std::size_t>(sight.all));
            for (std::size_t i = 0; i < real[c].size(); ++i) real[c][i] = here[scale] * place[c][i];
            sight.x[c] = real[c].data();
        }
        work(here, sight, pairs);
    });
}

}  // namespace strata::md
