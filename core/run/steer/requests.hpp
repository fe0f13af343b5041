// What can be asked of a run while it goes on: one JSON object a line, one in answer. docs/run-output.md
// lists them all.
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

/// The run as the socket sees it: how it answers. A function that is not set is answered with "this run has
/// no
/// ...".
struct SteeredRun {
    std::string name;                // of the case
    const Pace* pace = nullptr;      // step, time, rate, estimate
    const Series* series = nullptr;  // the last rows
    std::function<std::vector<SteeringValue>()> values;
    /// Changes values, all before the same step, which is returned. Names and ranges were checked.
    std::function<std::int64_t(const std::vector<std::pair<std::string, double>>&)> set;
    /// Writes a checkpoint after the step that is returned.
    std::function<std::int64_t()> checkpoint;
    /// Ends the run in order after the step that is returned.
    std::function<std::int64_t()> stop;
};

/// The answer to one line, without a line end: {"ok":true,...} or {"ok":false,"error":"...",...}. Never
/// throws for what is in the line.
[[nodiscard]] std::string answer(std::string_view line, const SteeredRun& run);

}  // namespace strata::graph
