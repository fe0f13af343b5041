// The memory that can still be had, so that a request that cannot be covered is refused before it is touched.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace strata::team {

struct Supply {
    std::uint64_t bytes = 0;
    std::string from;  // what sets it: the system, or a cgroup's limit
};

/// The smallest of what the system calls available (MemAvailable of /proc/meminfo) and what each cgroup of
/// this process has left: its limit less its use, of which the page cache of files can be had back. `root` is
/// put before /proc and before every mount point, so that tests can describe other systems.
[[nodiscard]] Supply memory_supply(const std::string& root = "");

/// The rest of one memory (by the system's number): free pages and the page cache of files. Nothing where
/// the system does not say.
[[nodiscard]] std::optional<std::uint64_t> supply_of_memory(int memory, const std::string& root = "");

}  // namespace strata::team
