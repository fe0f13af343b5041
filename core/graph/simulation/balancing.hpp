// Patches go to processes by what they were measured to cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/expand/plan.hpp"

namespace strata::graph {

struct BalanceRule {
    /// Looks every so many steps, of which one is timed; 0: never.
    std::int64_t every = 0;
    /// Patches move when the longest process's time falls by this part at least.
    double least_gain = 0.05;
    /// Of a new measurement in the smoothed cost; the first one counts whole.
    double weight = 0.5;
};

/// The members' measurements put together, so that all of them decide the same.
class Balancer {
  public:
    explicit Balancer(BalanceRule rule) : rule_(rule) {}
    [[nodiscard]] const BalanceRule& rule() const { return rule_; }

    /// After a timed step: another assignment where that is worth it. Collective over the members. `serial`:
    /// a number that no other memory of these processes has.
    [[nodiscard]] std::optional<Assignment> decide(Plan& plan, std::uint64_t serial);

  private:
    [[nodiscard]] static VectorBy<FamilyId, std::vector<double>> share(Plan& plan, std::uint64_t serial);

    BalanceRule rule_;
    VectorBy<FamilyId, std::vector<double>> costs_;  // [family][patch], smoothed
};

}  // namespace strata::graph
