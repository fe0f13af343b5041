// The units of a core that work on single registers: division, long multiplication, shifts, counts of bits,
// comparisons and jumps, conversions, division of doubles. The reference does each by shifts and additions.
#pragma once

#include <cstdint>

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

/// The answers of the instructions to two operands, b not 0: all of them mixed into one.
[[nodiscard]] std::uint64_t answers(std::uint64_t a, std::uint64_t b);
[[nodiscard]] std::uint64_t answers_reference(std::uint64_t a, std::uint64_t b);

bool scalar(const Round& round, Trace& trace);
bool scalar_reference(const Round& round, Trace& trace);
std::string scalar_place(int step);

}  // namespace strata::integrity
