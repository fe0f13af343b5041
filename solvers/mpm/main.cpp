// strata-mpm CASE: what `strata run` starts for cases with solver = "mpm".
#include "core/run/driver/driver.hpp"
#include "solvers/mpm/tasks.hpp"
#include "solvers/mpm/verify.hpp"

int main(int argc, char** argv) {
    using namespace strata;
    mpm::Settings settings;
    graph::CaseSchema keys = mpm::schema(settings);
    return graph::drive(argc, argv, keys, [&](graph::Graph& graph) -> graph::Solver {
        mpm::complete(settings, keys);
        const mpm::Labels l = mpm::declare(graph, settings);
        std::vector<graph::Scalar<double>> series{l.dt,         l.kinetic,    l.strain,    l.work,
                                                  l.momentum_x, l.momentum_y, l.momentum_z};
        std::vector<graph::ShownLabel> fields{l.x, l.v, l.mass, l.F, l.material};
        if (settings.rubs()) series.push_back(l.rubbed);
        if (settings.plastic()) {
            series.push_back(l.plastic_work);
            fields.insert(fields.end(), {l.elastic, l.alpha});
        }
        return {
            .time = l.time,
            .end = settings.end,
            .series = series,
            .fields = fields,
            .verify = [&settings, l](const graph::Finished& run) { return mpm::verify(run, l, settings); }};
    });
}
