// The sizes of STREAM's vectors that HPCC itself printed, and the order of its matrix in a given memory.
#include "benchmarks/hpcc/hpcc_size.hpp"
#include "tests/catch.hpp"

using namespace strata::bench::hpcc;

TEST_CASE("vectors are as long as HPCC 1.5 printed them for the same matrix and number of processes") {
    // hpccoutf.txt of two clusters: HPL_N (twice PTRANS_n), HPLMinProcs and STREAM_VectorSize.
    CHECK(hpcc_vector(28284, 16) == 16'666'347);
    CHECK(hpcc_vector(20352, 2) == 69'033'984);
}

TEST_CASE("the matrix takes 80 % of memory, less what makes its order a multiple of 160") {
    constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
    for (const std::uint64_t memory : {kGiB, 3 * kGiB, 1000 * kGiB}) {
        const std::uint64_t order = hpl_order(memory);
        CHECK(order % 160 == 0);
        CHECK(8 * order * order <= memory / 10 * 8);
        CHECK(8 * (order + 160) * (order + 160) > memory / 10 * 8);
    }
    CHECK(hpl_order(64 * kGiB / 1024) == 2560);  // sqrt(0.8 x 2^23) = 2590.5; HPCC's default of 64 MiB
}

TEST_CASE("the vectors of all processes together are as large as the matrix, as far as HPCC's counter goes") {
    CHECK(3 * 4 * hpcc_vector(24000, 4) == std::uint64_t{24000} * 24000);
    CHECK(hpcc_vector(1'000'000, 2) == std::uint64_t{1} << 30);
}
