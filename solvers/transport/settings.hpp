// What a case of this solver may say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/run/case/grid_keys.hpp"
#include "core/run/case/time_keys.hpp"

namespace strata::transport {

using graph::Real3;

inline constexpr const char* kSolver = "transport";
inline constexpr const char* kSummary =
    "Heat conduction and linear advection on a structured grid, second order.";

/// The values before reading are the defaults. Lists have an entry for each direction of the grid.
struct Settings : graph::GridKeys, graph::TimeKeys {
    Settings() : TimeKeys{.about = "step as a share of the largest stable one", .most = 4} {}

    std::string equation;
    double diffusivity = 1;

    std::string flow = "uniform";
    std::vector<double> velocity{1, 1, 1};

    std::string profile = "cosines";
    std::vector<std::int64_t> waves{1, 1, 1};
    std::vector<double> centre{0.5, 0.75, 0.5};
    double width = 0.1, background = 1;

    double error_limit = 0;

    [[nodiscard]] bool heat() const { return equation == "heat"; }
};

/// Declares the keys, bound to the settings, which must outlive them.
void declare_keys(graph::CaseSchema& keys, Settings& settings);
/// A schema with these keys alone.
[[nodiscard]] graph::CaseSchema schema(Settings& settings);

/// What no key says alone: lists as long as the grid has directions, an exact solution where an error limit
/// is given. Throws Error with the key's place.
void check(const Settings& settings, const graph::CaseSchema& schema);

}  // namespace strata::transport
