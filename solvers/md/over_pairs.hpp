// What a task needs that loops over the pairs of a patch, for potentials without a kernel.
#pragma once

#include "solvers/md/step.hpp"

namespace strata::md {

struct PairVersions {
    int x, list, way;
};

/// Declares it, and calls work(here, sight, pairs).
template <class Work>
void over_pairs(const Step& step, graph::Task& task, const PairVersions& at, Work work) {
    const Labels& l = step.labels;
    const auto x = task.need(l.x.at(at.x), l.near);
    const auto around = task.need(l.near);
    const auto list = task.need(l.neighbours.at(at.list));
    const auto way = task.need(l.way.at(at.way));
    task.run([=, &s = step.settings](graph::Here& here) {
        const double* place[3];
        pointers(here[x], place);
        const Sight sight{
            {place[0], place[1], place[2]}, here[list].species(), here[around].own(), here[around].size()};
        work(here, sight, here[list].near(sight, s.cutoff, here[way], s.margin));
    });
}

}  // namespace strata::md
