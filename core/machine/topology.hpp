#pragma once

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Fills in what hwloc knows: packages, domains, memories, distances, caches, cores, their kinds, and
/// the devices that a file describes.
void read_topology(const Source& source, Machine& machine);

}  // namespace strata::machine
