#pragma once

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Fills in what the operating system says beside the topology: names, virtualisation, frequencies, memory in
/// use, huge pages, what this process may use, counters, placement and privileges.
void read_system(Machine& machine);

}  // namespace strata::machine
