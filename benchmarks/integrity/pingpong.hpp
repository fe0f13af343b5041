// Cache lines handed to and fro between two cores. What a side reads it works on and writes back, so that a
// line that is lost, old or damaged on its way changes all that follows.
#pragma once

#include "benchmarks/integrity/kernel.hpp"

namespace strata::integrity {

bool pingpong(const Round& round, Trace& trace);
bool pingpong_reference(const Round& round, Trace& trace);
std::string pingpong_place(int step);

}  // namespace strata::integrity
