// What a replay does, found from the run's folder before anything starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/run/driver/command_line.hpp"
#include "core/run/driver/driver.hpp"
#include "core/run/driver/showing.hpp"
#include "core/run/history/history.hpp"

namespace strata::graph {

/// A window of a run, which is computed again and compared with what the run wrote.
struct ReplayPlan {
    ReplayWish wish;
    std::filesystem::path out;
    RunRecord record;
    Identity now;  // of this process
    RunLeg leg;    // to which the window's first step belongs: its case is computed

    // Of --add:
    std::vector<LabelId> fields;          // besides those of the case
    std::vector<Scalar<double>> columns;  // besides those of the solver
    std::vector<std::string> kept;        // those that only this run keeps
    bool from_a_step = false;             // some have no value before a step has made them
};

/// The step in the name of a field file, NAME-000500.vtkhdf; -1 where it has none.
[[nodiscard]] std::int64_t step_of_field(const std::string& name);

/// Throws Error where the run has no such window, or was computed by another program or on another kind of
/// processor than this process's.
[[nodiscard]] ReplayPlan plan_replay(const CommandLine& command_line, const Build& build);

/// Refuses steps from `after` + 1 to the window's end where another program or processor computed any of
/// them.
void expect_same_identity(const ReplayPlan& plan, std::int64_t after, const Identity& now);

/// Finds the labels of --add, and has the graph keep them. Throws Error with the names that there are.
void add_labels(ReplayPlan& plan, Graph& graph, const Solver& solver);

/// --add help: names of labels, what they are, and whether the run shows them anyway.
[[nodiscard]] std::string addable_text(const Graph& graph, const Resolved& resolved, const Solver& solver,
                                       const std::vector<ShownFile>& shown);

/// The folder in which a replay writes until it is whole: .NAME.partial beside it.
[[nodiscard]] std::filesystem::path partial_replay(const std::filesystem::path& out);

}  // namespace strata::graph
