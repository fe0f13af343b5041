// The latest operations of a run's threads: profile.json and trace.json.
#pragma once

#include <filesystem>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/profile/profile.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// The latest operations of this process's threads, from the moment on from which all of them have records.
[[nodiscard]] ProcessRecords latest_records(const Simulation& run, const team::Team& team);

/// The profile of all processes' latest records. Collective.
[[nodiscard]] Profile gather_profile(const Simulation& run, const ProcessRecords& mine, team::Team& team);

/// Writes `folder`/trace.json. Collective. Throws Error.
void write_timeline(const ProcessRecords& mine, team::Team& team, const std::filesystem::path& folder);

}  // namespace strata::graph
