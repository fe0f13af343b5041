#include "benchmarks/hpcc/hpcc_size.hpp"

#include <algorithm>
#include <cmath>

namespace strata::bench::hpcc {
namespace {

constexpr double kPart = 0.8;  // of memory, for the matrix
constexpr std::uint64_t kBlock = 80;
constexpr std::uint64_t kVectors = 3;
constexpr std::uint64_t kMost = std::uint64_t{1} << 30;

}  // namespace

std::uint64_t hpl_order(std::uint64_t memory) {
    const double doubles = kPart * static_cast<double>(memory / sizeof(double));
    return static_cast<std::uint64_t>(std::sqrt(doubles)) / (2 * kBlock) * (2 * kBlock);
}

std::uint64_t hpcc_vector(std::uint64_t order, std::uint64_t processes) {
    return std::min(order * order / processes / kVectors, kMost);
}

}  // namespace strata::bench::hpcc
