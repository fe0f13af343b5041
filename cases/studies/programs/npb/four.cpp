// The four benchmarks whose compilers are compared; the whole suite takes minutes to compile.
#include <array>

#include "benchmarks/npb/bt/bt.hpp"
#include "benchmarks/npb/cg/cg.hpp"
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/ft/ft.hpp"
#include "benchmarks/npb/mg/mg.hpp"

namespace strata::npb {

std::span<const Benchmark> benchmarks() {
    static const std::array known = {mg::benchmark, cg::benchmark, ft::benchmark, bt::benchmark};
    return known;
}

}  // namespace strata::npb
