#include "benchmarks/hpcc/hpl/size.hpp"

#include <algorithm>
#include <cmath>

#include "benchmarks/hpcc/hpl/factorization.hpp"

namespace strata::bench::hpcc::linpack {

double bytes_of(const Shape& shape) {
    return 8.0 * static_cast<double>(std::max(1L, shape.own_rows())) * static_cast<double>(shape.stride()) +
           static_cast<double>(Factorization::bytes(shape)) + 5 * 8.0 * static_cast<double>(shape.n);
}

double most_bytes_of(Shape shape) {
    // The first process of a dimension has the most of it, but for b, which one column of processes has.
    double most = 0;
    shape.grid.row = 0;
    for (shape.grid.column = 0; shape.grid.column < shape.grid.columns; ++shape.grid.column)
        most = std::max(most, bytes_of(shape));
    return most;
}

long full_order(Shape shape, double available) {
    const double elements = kShareOfMemory * available * shape.grid.rows * shape.grid.columns / 8;
    const long blocks = std::max(1L, static_cast<long>(std::sqrt(elements)) / shape.block);
    shape.n = blocks * shape.block;
    while (shape.n > shape.block && most_bytes_of(shape) > kMostOfMemory * available) shape.n -= shape.block;
    return shape.n;
}

}  // namespace strata::bench::hpcc::linpack
