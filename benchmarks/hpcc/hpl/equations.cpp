#include "benchmarks/hpcc/hpl/equations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "benchmarks/common/random.hpp"

namespace strata::bench::hpcc::linpack {

double element(long i, long j) {
    return random_double((static_cast<std::uint64_t>(i) << 32) + static_cast<std::uint64_t>(j));
}

Equations::Equations(const Shape& shape)
    : shape_(shape),
      stride_(shape.stride()),
      a_(static_cast<std::size_t>(std::max(1L, shape.own_rows() * stride_))) {
    const Cyclic rows = shape.rows(), columns = shape.columns();
    const long height = shape.own_rows(), width = shape.own_columns(), last = shape.n;
#pragma omp parallel for schedule(static)
    for (long r = 0; r < height; ++r) {
        const long i = rows.global(r);
        double* const to = row(r);
        for (long c = 0; c < width; ++c) {
            const long j = columns.global(c);
            to[c] = element(i, j == last ? kRightSide : j);
        }
    }
}

double scaled_residual(Group& group, const Shape& shape, std::span<const double> x) {
    const Cyclic rows = shape.rows(), columns = shape.columns();
    const auto n = static_cast<std::size_t>(shape.n);
    const long height = shape.own_rows(), width = columns.before(shape.n);
    std::vector<double> product(n), size(n);
#pragma omp parallel for schedule(static)
    for (long r = 0; r < height; ++r) {
        const long i = rows.global(r);
        double sum = 0, sizes = 0;
        for (long c = 0; c < width; ++c) {
            const long j = columns.global(c);
            const double a = element(i, j);
            sum += a * x[static_cast<std::size_t>(j)];
            sizes += std::fabs(a);
        }
        product[static_cast<std::size_t>(i)] = sum;
        size[static_cast<std::size_t>(i)] = sizes;
    }
    group.sum(std::span<double>(product));
    group.sum(std::span<double>(size));
    double of_a = 0, of_b = 0, of_x = 0, difference = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double b = element(static_cast<long>(i), kRightSide);
        const double off = std::fabs(product[i] - b);
        // What is not a number is as wrong as can be; max() would drop it.
        if (!(off <= std::numeric_limits<double>::max())) return std::numeric_limits<double>::infinity();
        difference = std::max(difference, off);
        of_a = std::max(of_a, size[i]);
        of_b = std::max(of_b, std::fabs(b));
        of_x = std::max(of_x, std::fabs(x[i]));
    }
    return difference /
           (std::numeric_limits<double>::epsilon() * (of_a * of_x + of_b) * static_cast<double>(n));
}

}  // namespace strata::bench::hpcc::linpack
