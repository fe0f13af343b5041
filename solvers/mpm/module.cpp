#include "solvers/mpm/module.hpp"

#include "solvers/mpm/verify.hpp"

namespace strata::mpm {

graph::Solver Mpm::declare(const graph::ModuleGraph& part) {
    mpm::declare(part, settings_, labels_);
    const Labels& l = labels_;
    std::vector<graph::Scalar<double>> series{l.dt,         l.kinetic,    l.strain,    l.work,
                                              l.momentum_x, l.momentum_y, l.momentum_z};
    std::vector<graph::ShownLabel> fields{l.x, l.v, l.mass, l.F, l.material};
    if (settings_.rubs()) series.push_back(l.rubbed);
    if (settings_.plastic()) {
        series.push_back(l.plastic_work);
        fields.insert(fields.end(), {l.elastic, l.alpha});
    }
    return {.time = l.time,
            .end = settings_.end,
            .series = series,
            .fields = fields,
            .verify = [this, l](const graph::Finished& run) { return verify(run, l, settings_); }};
}

}  // namespace strata::mpm
