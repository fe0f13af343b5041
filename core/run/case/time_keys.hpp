// The keys of cases whose steps are as long as they may be: the end, and a share of the largest stable step.
//
//   struct Settings : graph::TimeKeys {
//       Settings() : TimeKeys{.about = "step as a share of the largest stable one", .most = 1} {}
//   } settings;
//   settings.declare_time(keys);
//   const double* cfl = settings.steered_cfl(graph);   // for steps_until() of core/graph/declare/clock.hpp
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/clock.hpp"
#include "core/run/case/case.hpp"

namespace strata::graph {

/// The values before reading are the defaults.
struct TimeKeys {
    std::string about;  // what cfl is
    double most = 1;    // that it may be
    double end = 0, cfl = 0.5, longest = 0;

    /// time.end, time.longest, and time.cfl, from above 0 to `most`. `hint`: what else --help says of the
    /// latter. `same_with`: a key and those of its values with which steps depend on time.end, so that a
    /// restart may not change it.
    void declare_time(CaseSchema& keys, const std::string& hint = "",
                      std::pair<std::string, std::vector<std::string>> same_with = {});
    /// The place of cfl in the graph: `strata steer` may change it, from 0.001 to `most`, while the run goes
    /// on.
    [[nodiscard]] const double* steered_cfl(Graph& graph) const;
    /// The length of a step that may be so long, in s: not above time.longest.
    [[nodiscard]] double bounded(double length) const {
        return longest > 0 && length > longest ? longest : length;
    }
};

}  // namespace strata::graph
