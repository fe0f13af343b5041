// What makes a result of this solver count.
#pragma once

#include <vector>

#include "core/graph/run/driver.hpp"
#include "solvers/transport/labels.hpp"
#include "solvers/transport/settings.hpp"

namespace strata::transport {

/// Root of the mean square difference from the exact solution at time.end, in K. Collective.
[[nodiscard]] double error(const graph::Finished& run, const Labels& labels, const Settings& settings);

/// By how much the integral of T has changed, as a share of the first integral of |T|. Collective.
[[nodiscard]] double loss(const graph::Finished& run, const Labels& labels, const Settings& settings);

/// The error against verify.error, unless the background alone would pass; where there is none, that nothing
/// was lost. Through walls a flow may carry some away: a result whose largest value has grown is refused,
/// another is compared with nothing.
[[nodiscard]] graph::Verification verify(const graph::Finished& run, const Labels& labels,
                                         const Settings& settings);
[[nodiscard]] std::vector<graph::Figure> figures(const graph::Finished& run, const Labels& labels,
                                                 const Settings& settings);

}  // namespace strata::transport
