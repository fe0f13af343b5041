// Benchmarks of the team layer, each beside what else there is for the same purpose.
#pragma once

#include "benchmarks/common/benchmark.hpp"

namespace strata::bench::team_layer {

extern const Benchmark barrier, flag, read, core_switch, death;

/// The first argument of a start of this program as a member of a team that loses one, and what it does then:
/// argv[2] members, of which the last is killed; the others print "told NANOSECONDS" where they were told
/// that member argv[3] is lost. With argv[3] below 0 nobody is killed.
inline constexpr const char* kDeathMembers = "team-death-members";
int death_members(int argc, char** argv);

}  // namespace strata::bench::team_layer
