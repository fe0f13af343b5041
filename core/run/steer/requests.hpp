// Requests to a running simulation: one JSON object a line, one in answer. docs/run-output.md lists them all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/run/output/series.hpp"
#include "core/run/steer/progress.hpp"

namespace strata::graph {

/// A number that may be changed between steps.
struct SteeringValue {
    std::string name, unit, about;
    double value = 0, least = 0, most = 0;
};

/// The run as seen by the socket. Where a function is not set, the answer is "this run has no ...".
struct SteeredRun {
    std::string name;                // name of the case
    const Pace* pace = nullptr;      // step, time, rate, estimate
    const Series* series = nullptr;  // the last rows
    std::function<std::vector<SteeringValue>()> values;
    /// Changes values, all before the same step, and returns that step. Names and ranges have been checked.
    std::function<std::int64_t(const std::vector<std::pair<std::string, double>>&)> set;
    /// Requests a checkpoint; returns the step after which it is written.
    std::function<std::int64_t()> checkpoint;
    /// Requests an orderly end of the run; returns the step after which it ends.
    std::function<std::int64_t()> stop;
};

/// The answer to one line, without a line end: {"ok":true,...} or {"ok":false,"error":"...",...}. Errors in
/// the line are never thrown.
[[nodiscard]] std::string answer(std::string_view line, const SteeredRun& run);

}  // namespace strata::graph
