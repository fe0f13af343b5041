// What a rank that is held nowhere needs to know of its launch: the launcher writes it into one variable, and
// strata-rank (rank_program.cpp) reads it on the rank's node.
#pragma once

namespace strata::launch {

/// Lines: NAME=VALUE is set, -NAME taken away. What is each rank's own (STRATA_RANK, STRATA_CPUS) is not
/// there.
constexpr const char* kRankPlan = "STRATA_RANK_PLAN";

}  // namespace strata::launch
