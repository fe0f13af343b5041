// The tile unit of x86 processors (AMX): products of matrices of 8-bit integers, and of bfloat16 where the
// entries are small integers, so that their sums are exact.
#pragma once

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

inline constexpr std::size_t kAmxBytes = 64 << 10;

std::string amx_missing();
bool amx(const Round& round, Trace& trace);
bool amx_reference(const Round& round, Trace& trace);
std::string amx_place(int step);

}  // namespace strata::integrity
