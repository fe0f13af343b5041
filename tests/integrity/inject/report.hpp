// What a worker of strata-integrity writes at the end of a round, and what its supervisor makes of it
// (benchmarks/integrity: shared.hpp, supervisor.cpp). Read here by offsets: nothing is shared with what is
// tested.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace inject {

class Reports {
  public:
    // A report of the worker without a fault: its answers are right.
    void learn(const std::string& report);

    // Whether the supervisor takes this for a finding.
    bool finding(const std::string& report) const;

    // Whether a report that is no finding says the digest of all results.
    static bool has_digest(const std::string& report);

    // A right report of a round that the worker without a fault has not done yet.
    bool unknown(const std::string& report) const;

  private:
    using Turn =
        std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;     // kernel, epoch, place among the seeds
    std::map<Turn, std::pair<std::uint64_t, std::uint64_t>> known_;  // its seed, the digest of its answer
};

}  // namespace inject
