// Long integers multiplied by Karatsuba's method (1962) with limbs of 64 bits; the reference is the method of
// school with limbs of 32 bits.
#pragma once

#include <cstdint>
#include <span>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::size_t kLimbs = 1024;

/// product = a b; a and b have as many limbs, a power of two. `room` has four times as many.
void karatsuba(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
               std::span<std::uint64_t> product, std::span<std::uint64_t> room);
void school_product(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                    std::span<std::uint32_t> product);

bool bigint(const Round& round, Trace& trace);
bool bigint_reference(const Round& round, Trace& trace);
std::string bigint_place(int step);

}  // namespace strata::integrity
