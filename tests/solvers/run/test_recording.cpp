// A profile covers the plans that a run has had: patches move, and relations change.
#include <algorithm>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/driver/observing.hpp"
#include "tests/catch.hpp"

using namespace strata::graph;

namespace {

constexpr int kPatches = 4, kFlops = 7;  // flops: of a cell, of which a patch has ten

/// Cells on a ring. A step shifts them by one.
struct Ring {
    Graph graph{"ring"};
    const Grid& cells = graph.grid(
        "ring", {.cells = {{0, 0, 0}, {10 * kPatches, 1, 1}}, .patch_cells = {10, 1, 1}, .periodic = {true}});

    Ring() {
        const auto u = graph.field<double>("u", cells, On::cells, {.history = 1});
        Task first = graph.start().task("first", cells);
        const auto made = first.make(u);
        first.run([=](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[made](i) = i;
        });
        Task step = graph.step().task("shift", cells);
        const auto old = step.need(u.previous(), ghosts(1));
        const auto now = step.make(u);
        step.work(kFlops, 16);
        step.run([=](Here& here) {
            for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) here[now](i) = here[old](i - 1);
        });
    }
};

/// Three stretches of steps with a new plan between them, of which `latest` operations are recorded.
ProcessRecords recorded(std::size_t latest, std::int64_t steps) {
    Ring ring;
    Recording recording(latest);
    SimulationOptions options;
    options.records = latest;
    const Simulation* present = nullptr;
    options.before_replacing = [&] { recording.take(*present); };
    Simulation run(ring.graph, Members::alone(), options);
    present = &run;
    run.start();
    for (int stretch = 0; stretch < 3; ++stretch) {
        if (stretch > 0) run.reassign(run.plan().assignment());
        run.advance(steps);
    }
    recording.take(run);
    return recording.records(0);
}

std::int64_t shifts(const ProcessRecords& records) {
    return std::count_if(records.records.begin(), records.records.end(),
                         [&](const TimedOp& op) { return records.names.at(op.name) == "shift"; });
}

}  // namespace

TEST_CASE("a profile has the operations of all plans that a run has had") {
    const ProcessRecords records = recorded(1 << 12, 10);
    CHECK(shifts(records) == 3 * 10 * kPatches);
    for (std::size_t i = 1; i < records.records.size(); ++i)
        CHECK(records.records[i].begin_ns >= records.records[i - 1].end_ns);
    CHECK(records.begin_ns <= records.records.front().begin_ns);
    CHECK(records.end_ns >= records.records.back().end_ns);
}

TEST_CASE("where records were forgotten, those of earlier plans count no more: no stretch has a gap") {
    const ProcessRecords records = recorded(64, 100);
    CHECK(shifts(records) > 0);
    CHECK(shifts(records) <= 64);
}
