#include <array>

#include "benchmarks/common/benchmark.hpp"

int main(int argc, char** argv) {
    strata::bench::Group alone;
    const std::array known = {strata::bench::local_benchmarks()};
    return strata::bench::run_and_report(argc, argv, alone, known);
}
