// Atomic operations of two cores on the same words. In which order they meet is chance, but sums, exclusive
// ors, the sum of all tickets that were drawn and each side's own bits come out exactly if no operation is
// lost.
#pragma once

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

bool atomics(const Round& round, Trace& trace);
bool atomics_reference(const Round& round, Trace& trace);
std::string atomics_place(int step);

}  // namespace strata::integrity
