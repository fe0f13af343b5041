// How the memories are used at this moment, and the huge pages that the system offers.
#pragma once

#include <string>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Free memory, page cache and huge page pools of every memory. `root` is put before /proc and /sys.
void read_memory_use(Machine& machine, const std::string& root = "");

[[nodiscard]] HugePages read_huge_pages(const std::string& root = "");

}  // namespace strata::machine
