// What makes a result of this solver count.
#pragma once

#include <optional>
#include <vector>

#include "core/run/driver/driver.hpp"
#include "solvers/transport/tasks.hpp"

namespace strata::transport {

/// The result of one run against what it should be. Going through all cells is done once for each question.
/// All calls are collective.
class Comparison {
  public:
    /// The settings must outlive it.
    Comparison(const Labels& labels, const Settings& settings) : labels_(labels), settings_(settings) {}

    /// The error against verify.error, unless the background alone would pass; where there is none, that
    /// nothing was lost. Through walls a flow may carry some away: a result whose largest value has grown is
    /// refused, another is compared with nothing.
    [[nodiscard]] Verification verify(const graph::Finished& run);
    [[nodiscard]] std::vector<Figure> figures(const graph::Finished& run);

  private:
    /// Root of the mean square difference from the exact solution at time.end, in K.
    double error(const graph::Finished& run);
    /// By how much the integral of T has changed, as a share of the first integral of |T|.
    double loss(const graph::Finished& run);

    Labels labels_;
    const Settings& settings_;
    std::optional<double> error_, loss_;
};

}  // namespace strata::transport
