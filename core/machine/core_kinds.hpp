// Kinds of cores that differ enough to matter.
#pragma once

#include <string>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Two kinds of hwloc's are one where all that is known of them agrees, but for capacities and frequencies
/// that differ by less than this share of the larger: cores of one design have different tested limits. hwloc
/// takes Intel's maximum frequencies for the same ones within 10 %, and big and little cores are at least 15
/// % apart.
constexpr double kKindsApart = 0.1;

/// Makes one kind of those that are close, of `machine.core_kinds` as hwloc found them, and numbers them
/// anew, the slowest first. Cores of which nothing is known are a kind, too, where there are others.
/// Afterwards each core has the number of its kind, and efficiencies are 0, 1, 2, ... where the order is
/// known (by hwloc's efficiencies, else by capacity), else -1.
void join_close_kinds(Machine& machine);

/// Whether it is known which of several kinds is faster.
[[nodiscard]] bool kinds_are_ordered(const Machine& machine);

/// What is known of a kind, for people: "IntelCore, up to 4.70 GHz", "capacity 1006-1024"; empty for nothing.
[[nodiscard]] std::string kind_text(const CoreKind& kind);

}  // namespace strata::machine
