// The multi-zone benchmarks: BT, SP and LU over zones that exchange what lies on their sides.
#pragma once

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::mz {

extern const Benchmark bt_zones, sp_zones, lu_zones;

/// The table of predicted balance of one of them. Throws Error on another name.
[[nodiscard]] std::string balance_of(const std::string& name, Class size);

}  // namespace strata::npb::mz
