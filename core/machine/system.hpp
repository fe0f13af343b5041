#pragma once

#include <optional>
#include <string>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Fills in what the operating system says beside the topology: names, virtualisation, frequencies, memory in
/// use, huge pages, what this process may use, counters, placement and privileges.
void read_system(Machine& machine);

/// The kind of container that this process is in, if any. `root` is put before every path.
[[nodiscard]] std::optional<std::string> read_container(const std::string& root = "");

}  // namespace strata::machine
