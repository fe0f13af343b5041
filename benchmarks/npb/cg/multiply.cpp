#include "benchmarks/npb/cg/multiply.hpp"

namespace strata::npb::cg {

void multiply(const Sparse& matrix, const double* x, double* y, std::int64_t begin, std::int64_t end) {
    const double* value = matrix.value.data();
    const std::uint32_t* column = matrix.column.data();
    for (std::int64_t row = begin; row < end; ++row) {
        double sum = 0;
        const std::int64_t last = matrix.start[row + 1];
#pragma omp simd reduction(+ : sum)
        for (std::int64_t k = matrix.start[row]; k < last; ++k) sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

double bytes_of_multiply(const Sparse& matrix, const Block& block) {
    return static_cast<double>(matrix.value.size()) * (sizeof(double) + sizeof(std::uint32_t)) +
           static_cast<double>(block.rows()) * (sizeof(std::int64_t) + sizeof(double)) +
           static_cast<double>(block.columns()) * sizeof(double);
}

}  // namespace strata::npb::cg
