#pragma once

#include <array>
#include <cstdint>

#include "benchmarks/npb/common/group.hpp"
#include "benchmarks/npb/mg/field.hpp"

namespace strata::npb::mg {

/// The places, as x + n (y + n z), of the right side's ten +1 and ten -1: where the sequence of random
/// numbers laid over the grid has its ten largest and its ten smallest values.
struct Charges {
    std::array<std::int64_t, 10> plus, minus;
};

/// Each process looks through its own block, which begins at (x0, y0, z0) of the grid of n^3 points.
[[nodiscard]] Charges find_charges(std::int64_t n, const Field& block,
                                   const std::array<std::int64_t, 3>& begin, Group& group);

}  // namespace strata::npb::mg
