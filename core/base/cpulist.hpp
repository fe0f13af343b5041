#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

/// Numbers of a Linux CPU or node list such as "0-3,8" or "0-15:4", ascending and each once. An empty text is
/// an empty list. Throws Error on anything else.
[[nodiscard]] std::vector<int> parse_cpulist(std::string_view text);

/// The shortest "0-3,8" form of a set of numbers, in whatever order they come.
[[nodiscard]] std::string print_cpulist(std::span<const int> numbers);

}  // namespace strata
