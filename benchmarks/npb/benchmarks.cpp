#include <array>

#include "benchmarks/npb/bt/bt.hpp"
#include "benchmarks/npb/cg/cg.hpp"
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/ep/ep.hpp"
#include "benchmarks/npb/ft/ft.hpp"
#include "benchmarks/npb/is/is.hpp"
#include "benchmarks/npb/lu/lu.hpp"
#include "benchmarks/npb/mg/mg.hpp"
#include "benchmarks/npb/mz/benchmarks.hpp"
#include "benchmarks/npb/sp/sp.hpp"

namespace strata::npb {

std::span<const Benchmark> benchmarks() {
    static const std::array list = {ep::benchmark, mg::benchmark, cg::benchmark, ft::benchmark,
                                    is::benchmark, sp::benchmark, bt::benchmark, lu::benchmark};
    return list;
}

std::span<const Benchmark> zone_benchmarks() {
    static const std::array list = {mz::bt_zones, mz::sp_zones, mz::lu_zones};
    return list;
}

}  // namespace strata::npb
