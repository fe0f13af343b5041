#include <array>
#include <string>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/common/blas.hpp"
#include "benchmarks/elsewhere.hpp"

int main(int argc, char** argv) {
    // DGEMM calls this program again for each BLAS that it tries.
    if (argc == 4 && std::string(argv[1]) == "blas-trial")
        return strata::bench::blas_trial({argv[2], argv[3]});
    strata::bench::Group alone;
    const std::array known = {strata::bench::local_benchmarks()};
    return strata::bench::run_and_report(argc, argv, alone, known, strata::bench::kOfGraph);
}
