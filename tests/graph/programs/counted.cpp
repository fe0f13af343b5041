// Two tasks whose misses are known, counted: what each member, and then all of them, say.
//   counted simulated|hardware=EVENT STEPS      on STRATA_LAYOUT
// The start writes b and c. Each step, "triad" writes a = b + 3 c, "total" reads a: patches of 65536 doubles,
// more than any first-level cache has, so every line misses it: 1/8 of a miss for each double that is
// touched.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/profile/counting.hpp"
#include "core/team/team.hpp"

using namespace strata;
using namespace strata::graph;

namespace {

constexpr int kCells = 1 << 16, kPatches = 4;

struct Triad {
    Graph graph{"triad"};
    Grid& grid =
        graph.grid("grid", {.cells = {{0, 0, 0}, {kCells * kPatches, 1, 1}}, .patch_cells = {kCells, 1, 1}});
    Field<double> a = graph.field<double>("a", grid, On::cells),
                  b = graph.field<double>("b", grid, On::cells),
                  c = graph.field<double>("c", grid, On::cells);
    Scalar<double> sum = graph.scalar<double>("sum", Reduce::sum);

    Triad() {
        {
            Task task = graph.start().task("fill", grid);
            const auto first = task.make(b), second = task.make(c);
            task.run([=](Here& here) {
                for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) {
                    here[first](i) = i % 7;
                    here[second](i) = i % 5;
                }
            });
        }
        {
            Task task = graph.step().task("triad", grid);
            const auto first = task.need(b), second = task.need(c);
            const auto result = task.make(a);
            task.run([=](Here& here) {
                const int lo = here.cells().lo[0], n = here.cells().hi[0] - lo;
                const double *x = &here[first](lo), *y = &here[second](lo);
                double* z = &here[result](lo);
                for (int i = 0; i < n; ++i) z[i] = x[i] + 3 * y[i];
            });
        }
        Task task = graph.step().task("total", grid);
        const auto from = task.need(a);
        const auto to = task.contribute(sum);
        task.run([=](Here& here) {
            const int lo = here.cells().lo[0], n = here.cells().hi[0] - lo;
            const double* z = &here[from](lo);
            double s = 0;
            for (int i = 0; i < n; ++i) s += z[i];
            here[to] += s;
        });
    }
};

int run(team::Team& team, const CountersWish& wish, std::int64_t steps) {
    Triad triad;
    const auto counting = make_counting(wish);
    Simulation simulation(triad.graph, Members::of(team), {.crew = &team.crew(), .meter = counting.get()});
    simulation.start();
    counting->begin();
    simulation.advance(steps / 2);
    simulation.advance(steps - steps / 2);
    const Counts counts = gather_counts(counting->end(), team);
    if (team.rank() != 0) return 0;
    fmt::print("mode {}\nfrom {}\n", counts.mode, counts.from);
    const auto print = [&](const std::string& name, std::int64_t calls, double values,
                           const std::vector<double>& events) {
        for (std::size_t e = 0; e < events.size(); ++e)
            fmt::print("{} | {} | {} | {} | {}\n", name, calls, values, counts.events[e], events[e]);
    };
    for (const Counts::Row& row : counts.sorted()) print(row.name, row.calls, row.values, row.events);
    print("between", 0, 0, counts.runtime);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const CountersWish wish = read_counters_wish(argv[1]);
    prepare_counting(wish, true, {argv, argv + argc});
    return team::run(argc, argv, [&](team::Team& team) { return run(team, wish, std::atoll(argv[2])); });
}
