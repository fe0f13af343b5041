// What a case of this solver may say.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/declare/family.hpp"
#include "core/run/case/case.hpp"

namespace strata::transport {

using graph::Real3;

/// The values before reading are the defaults. Lists have an entry for each direction of the grid.
struct Settings {
    std::string equation;

    std::vector<std::int64_t> cells, patch_cells{1 << 20, 32, 32};
    std::vector<double> size{1, 1, 1};
    bool periodic = true;

    double diffusivity = 1;

    std::string flow = "uniform";
    std::vector<double> velocity{1, 1, 1};

    std::string profile = "cosines";
    std::vector<std::int64_t> waves{1, 1, 1};
    std::vector<double> centre{0.5, 0.75, 0.5};
    double width = 0.1, background = 1;

    double end = 0, cfl = 0.5;

    double error_limit = 0;

    [[nodiscard]] bool heat() const { return equation == "heat"; }
    [[nodiscard]] int directions() const { return static_cast<int>(cells.size()); }
    /// Directions that are not there have one cell of length 1.
    [[nodiscard]] graph::GridShape shape() const;
    [[nodiscard]] Real3 spacing() const { return shape().spacing; }
};

/// The keys, bound to the settings, which must outlive them.
[[nodiscard]] graph::CaseSchema schema(Settings& settings);

/// What no key says alone: lists as long as the grid has directions, an exact solution where an error limit
/// is given. Throws Error with the key's place.
void check(const Settings& settings, const graph::CaseSchema& schema);

}  // namespace strata::transport
