// The four benchmarks whose compilers are compared; the whole suite takes minutes to compile.
#include <array>

#include "benchmarks/npb/bt/bt.hpp"
#include "benchmarks/npb/cg/cg.hpp"
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/ft/ft.hpp"
#include "benchmarks/npb/mg/mg.hpp"
#include "benchmarks/npb/mz/benchmarks.hpp"

namespace strata::npb {

std::span<const Benchmark> benchmarks() {
    static const std::array known = {mg::benchmark, cg::benchmark, ft::benchmark, bt::benchmark};
    return known;
}

// None over zones.
std::span<const Benchmark> zone_benchmarks() { return {}; }
std::string mz::balance_of(const std::string&, Class) { return {}; }

}  // namespace strata::npb
