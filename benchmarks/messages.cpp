// The benchmarks that exchange messages.
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "benchmarks/osu/osu.hpp"

namespace strata::bench {

std::span<const Benchmark> message_benchmarks() {
    static const std::vector<Benchmark> list = {
        hpcc::pingpong,  hpcc::rings,    hpcc::ptrans,
#ifdef STRATA_HAVE_FFTW
        hpcc::mpifft,
#endif
        hpcc::allreduce, hpcc::alltoall, osu::message_rate,
    };
    return list;
}

}  // namespace strata::bench
