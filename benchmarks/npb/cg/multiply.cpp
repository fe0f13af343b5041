#include "benchmarks/npb/cg/multiply.hpp"

namespace strata::npb::cg {

void multiply(const Sparse& matrix, const double* x, double* y, std::int64_t begin, std::int64_t end) {
    // So far ahead elements are asked for: the processor's own prefetching alone reaches half the memory's
    // bandwidth, as each row is short. Elements lie in the order in which they are used, over rows' ends too.
    constexpr std::int64_t kAhead = 768;
    for (std::int64_t row = begin; row < end; ++row) {
        // Four sums, so that no addition waits for the one before it. Loads one by one: gathering eight of x
        // at once takes longer on the processors tried.
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        const std::int64_t last = matrix.start[row + 1];
        std::int64_t k = matrix.start[row];
        for (; k + 8 <= last; k += 8) {
            const double* v = &matrix.value[k];
            const std::uint32_t* c = &matrix.column[k];
            __builtin_prefetch(v + kAhead);
            __builtin_prefetch(c + kAhead);
            s0 += v[0] * x[c[0]];
            s1 += v[1] * x[c[1]];
            s2 += v[2] * x[c[2]];
            s3 += v[3] * x[c[3]];
            s0 += v[4] * x[c[4]];
            s1 += v[5] * x[c[5]];
            s2 += v[6] * x[c[6]];
            s3 += v[7] * x[c[7]];
        }
        for (; k < last; ++k) s0 += matrix.value[k] * x[matrix.column[k]];
        y[row] = (s0 + s1) + (s2 + s3);
    }
}

double bytes_of_multiply(const Sparse& matrix, const Block& block) {
    return static_cast<double>(matrix.value.size()) * (sizeof(double) + sizeof(std::uint32_t)) +
           static_cast<double>(block.rows()) * (sizeof(std::int64_t) + sizeof(double)) +
           static_cast<double>(block.columns()) * sizeof(double);
}

}  // namespace strata::npb::cg
