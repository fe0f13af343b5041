// How much the last-level caches hold: what decides whether it pays to write past them.
#pragma once

#include <cstdint>
#include <string>

namespace strata::machine {

/// Bytes of the last-level caches of all CPUs that are online, as the kernel says
/// (/sys/devices/system/cpu); 0 where it says nothing. `cpus`: that folder, for tests.
[[nodiscard]] std::uint64_t last_level_caches(const std::string& cpus = "/sys/devices/system/cpu");

}  // namespace strata::machine
