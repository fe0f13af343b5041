// The benchmarks that exchange no messages, or, as the stencil, only through their group.
#include <array>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "benchmarks/machine/machine.hpp"
#include "benchmarks/stencil/stencil.hpp"

namespace strata::bench {

std::span<const Benchmark> local_benchmarks() {
    static const std::array list = {hpcc::stream,
                                    hpcc::dgemm,
                                    hpcc::hpl,
                                    machine_measures::peak,
                                    machine_measures::latency,
                                    machine_measures::lines,
                                    machine_measures::domains,
                                    machine_measures::noise,
                                    machine_measures::cache_bandwidth,
                                    machine_measures::pages,
                                    machine_measures::cycles,
                                    machine_measures::clock,
                                    stencil::stencil};
    return list;
}

}  // namespace strata::bench
