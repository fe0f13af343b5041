// strata-transport CASE: what `strata run` starts for cases with solver = "transport".
#include <memory>

#include "core/run/driver/driver.hpp"
#include "solvers/transport/tasks.hpp"
#include "solvers/transport/verify.hpp"

int main(int argc, char** argv) {
    using namespace strata;
    transport::Settings settings;
    graph::CaseSchema keys = transport::schema(settings);
    return graph::drive(argc, argv, keys, [&](graph::Graph& graph) -> graph::Solver {
        check(settings, keys);
        const transport::Labels labels = transport::declare(graph, settings);
        const auto comparison = std::make_shared<transport::Comparison>(labels, settings);
        return {.time = labels.time,
                .end = settings.end,
                .series = {labels.dt, labels.total, labels.least, labels.most},
                .fields = {labels.T},
                .verify = [comparison](const graph::Finished& run) { return comparison->verify(run); },
                .figures = [comparison](const graph::Finished& run) { return comparison->figures(run); }};
    });
}
