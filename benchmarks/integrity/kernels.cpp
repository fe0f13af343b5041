#include "benchmarks/integrity/kernel.hpp"
#include "benchmarks/integrity/lanes.hpp"
#include "benchmarks/integrity/lucas_lehmer.hpp"

namespace strata::integrity {

const std::vector<Kernel>& kernels() {
    static const std::vector<Kernel> list = {
        {"lucas-lehmer", "64-bit multiplication and carries: Mersenne numbers with known answers",
         "products of limbs", Use::core, 8 << 10, nothing_missing, lucas_lehmer, lucas_lehmer_reference,
         lucas_lehmer_place},
        {"avx2", "AVX2 and FMA: integer, double and float lanes", "lane steps", Use::core,
         sizeof(AllLanes256), avx2_missing, avx2, avx2_reference, avx2_place},
        {"avx512", "AVX-512: integer, double and float lanes", "lane steps", Use::core, sizeof(AllLanes512),
         avx512_missing, avx512, avx512_reference, avx512_place},
    };
    return list;
}

}  // namespace strata::integrity
