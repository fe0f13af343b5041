// The benchmark that `strata machine --measure` looks at memory domains with, compiled for any processor of
// this kind: an emulated one lacks what strata-bench, compiled for this machine's, may use.
#include <array>
#include <span>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/machine/machine.hpp"

int main(int argc, char** argv) {
    using namespace strata::bench;
    Group alone;
    const std::array benchmarks = {machine_measures::domains};
    const std::array<std::span<const Benchmark>, 1> known = {benchmarks};
    return run_and_report(argc, argv, alone, known, {});
}
