// The latest operations of a run's threads: profile.json and trace.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/graph/simulation/simulation.hpp"
#include "core/run/profile/profile.hpp"
#include "core/team/team.hpp"

namespace strata::graph {

/// Operations that each thread remembers (SimulationOptions::records).
inline constexpr std::size_t kRecords = std::size_t{1} << 17;

/// The latest operations of this process's threads, over all plans that a run has had: patches move, and
/// relations change.
class Recording {
  public:
    /// `latest`: SimulationOptions::records of the run.
    explicit Recording(std::size_t latest) : latest_(latest) {}

    /// Takes what the run's present plan recorded. To be called when the run replaces it
    /// (SimulationOptions::before_replacing), and once at the end.
    void take(const Simulation& run);
    /// All that was taken, from the moment on from which no thread lacks any.
    [[nodiscard]] ProcessRecords records(int process) const;
    /// The profile of all processes' records, of which `mine` are this one's. Collective.
    [[nodiscard]] Profile gather(const ProcessRecords& mine, team::Team& team) const;

  private:
    [[nodiscard]] std::uint32_t number_of(const std::string& name);
    void take_declared(const Simulation& run);

    struct Thread {
        std::vector<TimedOp> operations;  // the oldest first
        std::int64_t whole_from_ns = 0;   // since then none is missing
    };
    std::size_t latest_;
    std::vector<std::string> names_;
    std::map<std::string, std::uint32_t> numbers_;  // of names
    std::vector<Thread> threads_;
    std::int64_t begin_ns_ = std::numeric_limits<std::int64_t>::max(), end_ns_ = 0;  // of what was taken
    std::map<std::tuple<std::uint32_t, std::int32_t, OpKind>, Work> declared_;  // name, patch -> of a call
};

/// Writes `folder`/trace.json. Collective. Throws Error.
void write_timeline(const ProcessRecords& mine, team::Team& team, const std::filesystem::path& folder);

}  // namespace strata::graph
