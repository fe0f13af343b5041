// strata-md CASE: what `strata run` starts for cases with solver = "md".
#include "core/run/driver/driver.hpp"
#include "solvers/md/tasks.hpp"
#include "solvers/md/verify.hpp"

int main(int argc, char** argv) {
    using namespace strata;
    md::Settings settings;
    graph::CaseSchema keys = md::schema(settings);
    return graph::drive(argc, argv, keys, [&](graph::Graph& graph) -> graph::Solver {
        md::complete(settings, keys);
        const md::Labels l = md::declare(graph, settings);
        return {
            .time = l.time,
            .end = static_cast<double>(settings.steps) * settings.step,
            .time_unit = "tau",
            .series = l.thermo.all(),
            .series_every = settings.thermo,
            .series_from_start = true,
            .fields = {l.x, l.v},
            .verify = [&settings, l](const graph::Finished& run) { return md::verify(run, l, settings); }};
    });
}
