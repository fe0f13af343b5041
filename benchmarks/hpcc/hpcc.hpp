// The measures of the HPC Challenge by which the machines of its time were judged, written from their
// definitions (Luszczek et al., Introduction to the HPC Challenge Benchmark Suite, 2005; docs/benchmarks.md).
#pragma once

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::hpcc {

extern const Benchmark stream, dgemm, hpl;
extern const Benchmark pingpong, rings, ptrans, allreduce, alltoall;
#ifdef STRATA_HAVE_FFTW
extern const Benchmark mpifft;
#endif

}  // namespace strata::bench::hpcc
