// strata-npb: the suite over the threads of one process.
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/common/openmp_group.hpp"

int main(int argc, char** argv) {
    strata::npb::OpenMpGroup group;
    return strata::npb::run_suite(argc, argv, group);
}
