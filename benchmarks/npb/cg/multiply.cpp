#include "benchmarks/npb/cg/multiply.hpp"

namespace strata::npb::cg {
namespace {

/// y = A x, or y = y + A x with `add`, for some rows of one strip.
template <bool add, class Column>
void multiply_strip(const Sparse& matrix, const Column* column, const double* x, double* y,
                    std::int64_t begin, std::int64_t end) {
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
            const Column* c = column + k;
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
        for (; k < last; ++k) s0 += matrix.value[k] * x[column[k]];
        const double sum = (s0 + s1) + (s2 + s3);
        y[row] = add ? y[row] + sum : sum;
    }
}

template <bool add>
void multiply_any(const Sparse& matrix, const double* x, double* y, std::int64_t begin, std::int64_t end) {
    if (matrix.wide.empty())
        multiply_strip<add>(matrix, matrix.narrow.data(), x, y, begin, end);
    else
        multiply_strip<add>(matrix, matrix.wide.data(), x, y, begin, end);
}

}  // namespace

void multiply(const Matrix& matrix, const double* x, double* y, std::int64_t begin, std::int64_t end) {
    const std::int64_t first = matrix.front().block.column_begin;
    multiply_any<false>(matrix.front(), x, y, begin, end);
    for (std::size_t s = 1; s < matrix.size(); ++s)
        multiply_any<true>(matrix[s], x + (matrix[s].block.column_begin - first), y, begin, end);
}

double bytes_of_multiply(const Matrix& matrix) {
    double bytes = 0;
    for (const Sparse& strip : matrix)
        bytes += static_cast<double>(strip.value.size_bytes() + strip.narrow.size_bytes() +
                                     strip.wide.size_bytes() + strip.start.size_bytes()) +
                 static_cast<double>(strip.block.rows() + strip.block.columns()) * sizeof(double);
    return bytes;
}

}  // namespace strata::npb::cg
