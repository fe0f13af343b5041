// Assignment of patches to processes by measured costs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/expand/plan.hpp"

namespace strata::graph {

struct BalanceRule {
    /// Compares costs every so many steps, the last of which is timed; 0: never.
    std::int64_t every = 0;
    /// Patches move when the time of the slowest process falls by at least this part (0.05: 5 %).
    double least_gain = 0.05;
    /// The weight of a new measurement in the smoothed cost; the first measurement has weight 1.
    double weight = 0.5;
};

/// Combines the measurements of all members, so that all make the same decision.
class Balancer {
  public:
    explicit Balancer(BalanceRule rule) : rule_(rule) {}
    [[nodiscard]] const BalanceRule& rule() const { return rule_; }

    /// After a timed step: a new assignment, if moving patches pays. Collective over the members. `serial`: a
    /// number that no other shared memory of these processes has in its name.
    [[nodiscard]] std::optional<Assignment> decide(Plan& plan, std::uint64_t serial);

  private:
    [[nodiscard]] static VectorBy<FamilyId, std::vector<double>> share(Plan& plan, std::uint64_t serial);

    BalanceRule rule_;
    VectorBy<FamilyId, std::vector<double>> costs_;  // [family][patch], smoothed
};

}  // namespace strata::graph
