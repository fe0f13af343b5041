#include "benchmarks/npb/cg/multiply.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512BW__)
#include <immintrin.h>
#define STRATA_NPB_GATHER 1
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb::cg {
namespace {

static_assert(kTogether == kLanes);

// So far ahead elements are asked for: the processor's own prefetching alone reaches half the memory's
// bandwidth. Elements lie in the order in which they are used, over chunks' ends too.
constexpr std::int64_t kAhead = 768;

template <class Column>
void ask_for(const double* value, const Column* column) {
    __builtin_prefetch(value + kAhead);
    __builtin_prefetch(column + kAhead);
}

/// sum + a b, rounded once where the gathered form does so: both must give the same bits, whatever a compiler
/// fuses.
double added(double sum, double a, double b) {
#ifdef STRATA_NPB_GATHER
    return std::fma(a, b, sum);
#else
    return sum + a * b;
#endif
}

/// The sums of a chunk's eight rows. Eight, so that no addition waits for the one before it.
template <class Column>
Vec sum_single(const double* value, const Column* column, const double* end, const double* x) {
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
    for (; value != end; value += kLanes, column += kLanes) {
        ask_for(value, column);
        s0 = added(s0, value[0], x[column[0]]);
        s1 = added(s1, value[1], x[column[1]]);
        s2 = added(s2, value[2], x[column[2]]);
        s3 = added(s3, value[3], x[column[3]]);
        s4 = added(s4, value[4], x[column[4]]);
        s5 = added(s5, value[5], x[column[5]]);
        s6 = added(s6, value[6], x[column[6]]);
        s7 = added(s7, value[7], x[column[7]]);
    }
    return Vec{s0, s1, s2, s3, s4, s5, s6, s7};
}

#ifdef STRATA_NPB_GATHER
// The masked forms, of all lanes: of the others' sources GCC 12 warns.
constexpr __mmask8 kAll = 0xff;
__m512d fetch(const std::uint16_t* column, const double* x) {
    const auto eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(column));
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), kAll, _mm256_cvtepu16_epi32(eight), x,
                                    sizeof(double));
}
__m512d fetch(const std::uint32_t* column, const double* x) {
    const auto eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
    const __m512i places = _mm512_maskz_cvtepu32_epi64(kAll, eight);
    return _mm512_mask_i64gather_pd(_mm512_setzero_pd(), kAll, places, x, sizeof(double));
}
template <class Column>
Vec sum_gather(const double* value, const Column* column, const double* end, const double* x) {
    __m512d sum = _mm512_setzero_pd();
    for (; value != end; value += kLanes, column += kLanes) {
        ask_for(value, column);
        sum = _mm512_fmadd_pd(_mm512_loadu_pd(value), fetch(column, x), sum);
    }
    return sum;
}
#else
template <class Column>
Vec sum_gather(const double* value, const Column* column, const double* end, const double* x) {
    return sum_single(value, column, end, x);
}
#endif

/// y = A x, or y = y + A x with `add`, for chunks of one strip that have so many rows together.
template <bool add, Fetch how, class Column>
void multiply_chunks(const Strip& strip, const Column* column, const double* x, double* y, std::int64_t begin,
                     std::int64_t rows) {
    x += strip.column_begin;
    for (std::int64_t c = begin; rows > 0; ++c, rows -= kTogether) {
        const std::int64_t from = strip.start[c], to = strip.start[c + 1];
        const double *value = &strip.value[0] + from, *end = &strip.value[0] + to;
        const Vec sums = how == Fetch::gather ? sum_gather(value, column + from, end, x)
                                              : sum_single(value, column + from, end, x);
        std::array<double, kLanes> sum;
        std::memcpy(sum.data(), &sums, sizeof sums);
        const std::uint32_t* row = &strip.row[c * kTogether];
        const auto put = [&](std::int64_t lane) {
            y[row[lane]] = add ? y[row[lane]] + sum[lane] : sum[lane];
        };
        if (rows >= kTogether)
            for (std::int64_t lane = 0; lane < kTogether; ++lane) put(lane);
        else
            for (std::int64_t lane = 0; lane < rows; ++lane) put(lane);
    }
}

template <bool add, Fetch how>
void multiply_strip(const Strip& strip, const double* x, double* y, std::int64_t begin, std::int64_t rows) {
    if (strip.wide.empty())
        multiply_chunks<add, how>(strip, strip.narrow.data(), x, y, begin, rows);
    else
        multiply_chunks<add, how>(strip, strip.wide.data(), x, y, begin, rows);
}

template <Fetch how>
void multiply_all(const Matrix& matrix, const double* x, double* y, int worker) {
    const auto workers = static_cast<int>(matrix.chunks.size()) - 1;
    const Share part(matrix.block.rows(), worker, workers);
    const std::int64_t begin = matrix.chunks[worker], rows = part.end - part.begin;
    multiply_strip<false, how>(matrix.strips.front(), x, y, begin, rows);
    for (std::size_t s = 1; s < matrix.strips.size(); ++s)
        multiply_strip<true, how>(matrix.strips[s], x, y, begin, rows);
}

}  // namespace

Fetch faster_fetch(const Matrix& matrix, const double* x, double* y, int worker) {
    std::array<double, 2> least;
    least.fill(std::numeric_limits<double>::infinity());
    for (int round = 0; round < 5; ++round)
        for (const Fetch fetch : {Fetch::single, Fetch::gather}) {
            const double begun = bench::now();
            multiply(matrix, x, y, worker, fetch);
            double& best = least[static_cast<std::size_t>(fetch)];
            best = std::min(best, bench::now() - begun);
        }
    return least[1] < least[0] ? Fetch::gather : Fetch::single;
}

void multiply(const Matrix& matrix, const double* x, double* y, int worker, Fetch fetch) {
    if (fetch == Fetch::gather)
        multiply_all<Fetch::gather>(matrix, x, y, worker);
    else
        multiply_all<Fetch::single>(matrix, x, y, worker);
}

double bytes_of_multiply(const Matrix& matrix) {
    double bytes = static_cast<double>(matrix.block.columns()) * sizeof(double);
    for (const Strip& strip : matrix.strips)
        bytes +=
            static_cast<double>(strip.value.size_bytes() + strip.narrow.size_bytes() +
                                strip.wide.size_bytes() + strip.start.size_bytes() + strip.row.size_bytes()) +
            static_cast<double>(matrix.block.rows()) * sizeof(double);
    return bytes;
}

double compulsory_bytes_of_multiply(const Matrix& matrix) {
    std::int64_t elements = 0;
    for (const Strip& strip : matrix.strips)  // a zero fills up
        elements += std::count_if(strip.value.begin(), strip.value.end(), [](double v) { return v != 0; });
    return 10.0 * static_cast<double>(elements) +
           8.0 * static_cast<double>(matrix.block.rows() + matrix.block.columns());
}

}  // namespace strata::npb::cg
