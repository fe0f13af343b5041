// The whole state of a run to a checkpoint and back, on any layout.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/checkpoint/head.hpp"
#include "core/run/checkpoint/reader.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// The description of a run in a checkpoint, besides its values.
struct StateName {
    std::string case_name, case_hash;
    double time = 0;
    /// Labels that only this run keeps, for output: checkpoints of other runs of the case lack them.
    std::vector<std::string> added = {};
    // As CheckpointHead has them
    std::vector<std::pair<std::string, std::string>> keys = {};
    std::vector<std::pair<std::string, std::vector<double>>> facts = {};
    bool ended = false;
};

/// Writes all kept values as `folder`/checkpoint-NNNNNN, and removes all but the last `keep`. Collective.
/// Throws Error; checkpoints that were there before are then as they were.
void save_state(const Simulation& run, Graph& graph, team::Team& team, const std::filesystem::path& folder,
                const StateName& name, int keep);

/// Throws Error where a folder has no checkpoint, whole or damaged. To be called before anything starts.
void expect_checkpoint(const std::filesystem::path& folder);

/// Replaces Simulation::start(): restores the values and the graph's parameters from the last undamaged
/// checkpoint in a folder. Collective. Returns the checkpoint's path. Throws Error where there is none, or
/// the case is another one.
std::filesystem::path restore_state(Simulation& run, Graph& graph, team::Team& team,
                                    const std::filesystem::path& folder, const StateName& name);
/// The same from this checkpoint.
void restore_state(Simulation& run, Graph& graph, team::Team& team, const CheckpointReader& checkpoint,
                   const StateName& name);

/// The first value of a checkpoint, by label and patch, that the run has with other bits: "'velocity' on
/// patch 3, value 17: 1.5 and 1.25" (the checkpoint's, the run's); "" where all are alike. Collective: all
/// members get the same. Throws Error where the checkpoint is damaged.
[[nodiscard]] std::string state_difference(const Simulation& run, Graph& graph, team::Team& team,
                                           const CheckpointReader& checkpoint, const StateName& name);

}  // namespace strata::graph
