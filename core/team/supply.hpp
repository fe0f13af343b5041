// The available memory: a request beyond it is refused before its pages are touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace strata::team {

struct Supply {
    std::uint64_t bytes = 0;
    std::string from;  // its source: the system, or a cgroup's limit
};

/// The smallest of the system's available memory (MemAvailable of /proc/meminfo) and the rest of each cgroup
/// of this process: its limit less its use, without the page cache of files, which can be freed. `root` is
/// put before /proc and before every mount point, so that tests can describe other systems.
[[nodiscard]] Supply memory_supply(const std::string& root = "");

/// The rest of one memory (by the system's number): free pages and the page cache of files. None where the
/// system does not tell.
[[nodiscard]] std::optional<std::uint64_t> supply_of_memory(int memory, const std::string& root = "");

}  // namespace strata::team
