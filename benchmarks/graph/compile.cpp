// What it takes to make a graph ready to run: resolve() and the plan of all patches, for graphs that grow.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/elsewhere.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "core/base/error.hpp"
#include "core/graph/expand/plan.hpp"

namespace strata::bench::graph_layer {

namespace {

using namespace strata::graph;

constexpr int kCells = 2;  // of a patch, in each direction

void declare(Options& options) {
    options
        .option("--tasks", "N", "1000000", "tasks times patches of the largest graph; the others have fewer")
        .example("strata bench graph-compile --tasks 10000000", "a graph of ten million (task, patch)");
}

/// A periodic grid of about so many patches, as near to a cube as may be.
GridShape grid_of(std::int64_t patches) {
    const int side = std::max(1, static_cast<int>(std::lround(std::cbrt(static_cast<double>(patches)))));
    const int last = std::max(1, static_cast<int>(patches / (std::int64_t{side} * side)));
    return {.cells = {{0, 0, 0}, {side * kCells, side * kCells, last * kCells}},
            .patch_cells = {kCells, kCells, kCells},
            .periodic = {true, true, true}};
}

struct Taken {
    std::int64_t operations = 0;  // (task, patch)
    double resolve_s = 0, expand_s = 0;
    int missing = 0;  // operations that the plan should have and has not
    [[nodiscard]] double each_us() const {
        return 1e6 * (resolve_s + expand_s) / static_cast<double>(operations);
    }
};

Taken make_ready(std::int64_t tasks, int threads, std::uint64_t serial, Break fault) {
    DeclaredTasks declared(grid_of(tasks / kTasks));
    Taken taken;
    double begin = now();
    const Resolved resolved = resolve(declared.graph());
    taken.resolve_s = now() - begin;
    begin = now();
    const Members alone = Members::alone();
    Assignment assignment = assign(declared.graph(), 1);
    assignment.number(1);
    const graph::Plan plan(declared.graph(), resolved, assignment, alone, threads, serial);
    taken.expand_s = now() - begin;
    // Each task on each patch is there once, and waits for as many as it must: its own patch and, where it
    // needs ghosts, what is around; copies into the halo come on top.
    const std::int64_t patches = declared.grid().patches();
    taken.operations = patches * kTasks;
    std::vector<int> seen(static_cast<std::size_t>(taken.operations), 0);
    std::int64_t listed = 0;
    for (const auto& block : plan.step().step.inside)
        for (const auto& list : block->order)
            for (const std::uint32_t op : list) {
                const Op& it = plan.step().ops[op];
                if (it.kind != OpKind::task) continue;
                ++listed;
                const std::string& name = plan.step().names[it.name];
                ++seen[static_cast<std::size_t>((name.back() - '0') * patches + it.patch)];
                if (it.last_wait <= it.first_wait) ++taken.missing;
            }
    if (fault != Break::none && !seen.empty()) seen[seen.size() / 2] = fault == Break::skip ? 0 : 2;
    for (const int times : seen) taken.missing += times == 1 ? 0 : 1;
    taken.missing += listed == taken.operations ? 0 : 1;
    return taken;
}

Result run(Group& group, const Parsed& given, Break fault) {
    if (group.size() > 1)
        throw Error("graph-compile measures one process").given(std::to_string(group.size())).allowed("1");
    const std::int64_t most =
        given.has("--quick") ? 30'000 : given.integer("--tasks", 6000, std::int64_t{100'000'000});
    const int threads = thread_count();
    Result result;
    result.parameter("tasks a patch", std::int64_t{kTasks});
    result.parameter("threads", std::int64_t{threads});
    std::uint64_t serial = 1'000'000;
    int missing = 0;
    std::vector<Taken> sizes;
    for (std::int64_t tasks : {most / 100, most / 10, most}) {
        tasks = std::max<std::int64_t>(tasks, kTasks);
        Taken best;
        for (int attempt = 0; attempt < 3; ++attempt) {
            const Taken taken = make_ready(tasks, threads, serial++, fault);
            missing += taken.missing;
            if (attempt == 0 || taken.each_us() < best.each_us()) best = taken;
        }
        sizes.push_back(best);
        result.notes.push_back(
            fmt::format("{} (task, patch): resolve {:.3f} ms, expand {:.3f} s, {:.2f} us each.",
                        best.operations, 1e3 * best.resolve_s, best.expand_s, best.each_us()));
    }
    const Taken& largest = sizes.back();
    result.figures = {{"compile", 1e3 * (largest.resolve_s + largest.expand_s), "ms", false, {}, {}},
                      {"each (task, patch)", largest.each_us(), "us", false, {}, {}}};
    result.notes.push_back(fmt::format("With ten times as many, each takes {:.2f} times as long.",
                                       sizes[2].each_us() / sizes[1].each_us()));
    result.verification = {"(task, patch) that are missing, or there twice", static_cast<double>(missing), 0,
                           "exact"};
    return result;
}

}  // namespace

const Benchmark compile = {of_graph::kCompile.name, of_graph::kCompile.summary, declare, run};

}  // namespace strata::bench::graph_layer
