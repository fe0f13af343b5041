// The motion of all atoms together, taken away in every so many steps: at the end of one its momentum is
// summed up exactly, before the next one's drift each atom loses that velocity.
#include "solvers/md/step.hpp"

namespace strata::md {

using namespace graph;

void sum_momentum(const Step& step, Scope& scope) {
    const Labels& l = step.labels;
    Task task = scope.task(scope.id() == kStart ? "first momentum of all" : "sum momentum", step.grid);
    const auto v = task.need(l.v);
    const auto momentum = task.contribute(l.momentum);
    const auto species = task.need(l.species);
    task.run([=, shares = step.settings.mass_shares(), every = step.settings.remove_drift](Here& here) {
        if (here.step % every != 0) return;
        const double* u[3];
        pointers(here[v], u);
        const std::int32_t* const kinds = pointer(here[species]);
        std::array<double, 3>& sum = here[momentum];
        for (std::size_t c = 0; c < 3; ++c)
            for (std::int64_t i = 0; i < here[v].size(); ++i)
                sum[c] += (kinds != nullptr ? shares[static_cast<std::size_t>(kinds[i])] : 1) * u[c][i];
    });
}

void begin_to_remove_drift(const Step& step) {
    sum_momentum(step, step.graph.start());
    Task begin = step.graph.start().once("begin to take drift");
    begin.run([taken = begin.make(step.labels.taken)](Here& here) { here[taken] = 0; });
}

void remove_drift(const Step& step) {
    const Labels& l = step.labels;
    Task find = step.graph.step().once("find drift");
    find.run([momentum = find.need(l.momentum.previous()), of_kinds = find.need(l.of_kinds),
              before = find.need(l.taken.previous()), together = find.make(l.together),
              taken = find.make(l.taken), shares = step.settings.mass_shares(),
              every = step.settings.remove_drift](Here& here) {
        std::array<double, 3>& v = here[together];
        v = {};
        here[taken] = here[before];
        if ((here.step - 1) % every != 0) return;
        double mass = 0;
        for (std::size_t k = 0; k < shares.size(); ++k)
            mass += shares[k] * static_cast<double>(here[of_kinds][static_cast<std::int64_t>(k)]);
        const std::array<double, 3>& p = here[momentum];
        for (std::size_t c = 0; c < 3; ++c) v[c] = p[c] / mass, here[taken] += p[c] * v[c] / 2;
    });
    Task task = step.graph.step().task("remove drift", step.grid);
    task.run([v = task.modify(l.v), together = task.need(l.together),
              every = step.settings.remove_drift](Here& here) {
        if ((here.step - 1) % every != 0) return;
        const std::array<double, 3>& all = here[together];
        for (int c = 0; c < 3; ++c)
            for (double& each : here[v].component(c)) each -= all[static_cast<std::size_t>(c)];
    });
}

}  // namespace strata::md
