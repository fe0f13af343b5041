// What a worker of strata-integrity writes at the end of a round, and what its supervisor makes of it
// (benchmarks/integrity: shared.hpp, supervisor.cpp). Read here by offsets: nothing is shared with what is
// tested.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace inject {

// Reports come in lists: of the one that does a round, or of both sides.
class Reports {
  public:
    // Of workers without a fault: their answers are right.
    void learn(const std::vector<std::string>& reports);

    // Whether the supervisor takes one of them for a finding.
    bool finding(const std::vector<std::string>& reports) const;

    // Whether each, if it is no finding, says the digest of all results.
    static bool have_digests(const std::vector<std::string>& reports);

    // Whether one is right, of a round that the worker without a fault has not done yet.
    bool unknown(const std::vector<std::string>& reports) const;

  private:
    using Turn =
        std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;     // kernel, epoch, place among the seeds
    std::map<Turn, std::pair<std::uint64_t, std::uint64_t>> known_;  // its seed, the digest of its answer
};

}  // namespace inject
