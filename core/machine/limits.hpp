// What this process may use: the smallest of what its affinity and its cgroups leave.
#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// The PUs that this process may run on, as sched_getaffinity says it: cpusets are in it already.
[[nodiscard]] std::vector<int> own_affinity();

/// The memories that this process may have pages in, by the system's numbers.
[[nodiscard]] std::vector<int> own_memories(const std::string& root = "");

/// Everything that limits a process with this affinity. A quota of 4 CPUs' worth of time makes 64 PUs 4
/// effective ones. `root` is put before /proc and /sys, so that tests can describe other systems.
[[nodiscard]] Allowed read_allowed(const std::vector<int>& affinity, const std::string& root = "");

/// Whether this process may make a cgroup with a CPU weight or a CPU set, or raise its session's weight.
/// Asked with access(), so that nothing is left behind.
[[nodiscard]] Privileges read_privileges(const std::string& root = "");

}  // namespace strata::machine
