#include "benchmarks/integrity/amx.hpp"
#include "benchmarks/integrity/atomics.hpp"
#include "benchmarks/integrity/bigint.hpp"
#include "benchmarks/integrity/compress.hpp"
#include "benchmarks/integrity/dgemm.hpp"
#include "benchmarks/integrity/fft.hpp"
#include "benchmarks/integrity/hash.hpp"
#include "benchmarks/integrity/kernel.hpp"
#include "benchmarks/integrity/lanes.hpp"
#include "benchmarks/integrity/lucas_lehmer.hpp"
#include "benchmarks/integrity/march.hpp"
#include "benchmarks/integrity/miller_rabin.hpp"
#include "benchmarks/integrity/pingpong.hpp"
#include "benchmarks/integrity/scalar.hpp"

namespace strata::integrity {

const std::vector<Kernel>& kernels() {
    static const std::vector<Kernel> list = {
        {"lucas-lehmer", "64-bit multiplication and carries: Mersenne numbers with known answers",
         "products of limbs", Use::core, 8 << 10, nothing_missing, lucas_lehmer, lucas_lehmer_reference,
         lucas_lehmer_place},
        {"miller-rabin", "64-bit multiplication and jumps: primes below 2^63", "numbers", Use::core, 64,
         nothing_missing, miller_rabin, miller_rabin_reference, miller_rabin_place},
        {"scalar", "division, shifts, counts of bits, comparisons, conversions", "steps", Use::core, 64,
         nothing_missing, scalar, scalar_reference, scalar_place},
        {"fft", "doubles: integers multiplied by transforms, exact when rounded", "flop", Use::core,
         kFftBytes, nothing_missing, fft, fft_reference, fft_place},
        {"bigint", "64-bit multiplication and carries: Karatsuba's products", "products of limbs", Use::core,
         8 * kLimbs * sizeof(std::uint64_t), nothing_missing, bigint, bigint_reference, bigint_place},
        {"dgemm", "the BLAS: matrices of integers with row and column sums", "flop", Use::core, kDgemmBytes,
         dgemm_missing, dgemm, dgemm_reference, dgemm_place},
        {"avx2", "AVX2 and FMA: integer, double and float lanes", "lane steps", Use::core,
         sizeof(AllLanes256), avx2_missing, avx2, avx2_reference, avx2_place},
        {"avx512", "AVX-512: integer, double and float lanes", "lane steps", Use::core, sizeof(AllLanes512),
         avx512_missing, avx512, avx512_reference, avx512_place},
        {"amx", "AMX: tiles of 8-bit integers and bfloat16", "products", Use::core, kAmxBytes, amx_missing,
         amx, amx_reference, amx_place},
        {"hash", "SHA-256 and CRC-32C by their instructions", "bytes", Use::core, 128 << 10, nothing_missing,
         hash, hash_reference, hash_place},
        {"compress", "jumps and bytes: Lempel-Ziv and back", "bytes", Use::core, kCompressBytes,
         nothing_missing, compression, compression_reference, compression_place},
        {"march", "memory: March C- over what is free", "bytes", Use::memory, 64, nothing_missing,
         march_kernel, march_reference, march_place},
        {"pingpong", "cache lines handed between two cores", "lines", Use::pair, 64, nothing_missing,
         pingpong, pingpong_reference, pingpong_place},
        {"atomics", "atomic operations of two cores on the same words", "operations", Use::pair, 64,
         nothing_missing, atomics, atomics_reference, atomics_place},
    };
    return list;
}

}  // namespace strata::integrity
