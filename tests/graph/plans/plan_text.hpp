// The plans of a graph as text, to see whether a change of core/graph/expand changes what it makes.
//
// Each process writes its own plan with addresses in it. Whoever has the texts of all processes replaces the
// addresses by what lies there, so that the same plan gives the same text in every run and on every machine:
//
//   raw         wait @7f3a10000040 scope 0 lag 1            and, in another process's text,
//               flag @7f3a10000040 step 'diffuse' 5
//   canonical   wait p1:flag of step 'diffuse' 5 scope 0 lag 1
//
// Nothing in it was read from the machine: no cost, no time, no size of a page or a cache.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/expand/plan.hpp"

namespace strata::tests {

/// What one process's plan is: its memory, the order of its threads, and of each operation what it waits for
/// and what it copies. Addresses are written "@" and hexadecimal digits.
[[nodiscard]] std::string raw_text(const graph::Plan& plan);

/// [process] -> its text without addresses, from the raw texts of all processes, by rank. A process of the
/// same node is named where its memory or a flag of it is meant. Addresses of which no text says what is
/// there are numbered as they appear.
[[nodiscard]] std::vector<std::string> canonical_texts(const std::vector<std::string>& raw);

/// FNV-1a, 64 bits (draft-eastlake-fnv).
[[nodiscard]] std::uint64_t digest(std::string_view text);

}  // namespace strata::tests
