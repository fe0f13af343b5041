// hwloc's topology, loaded. hwloc is included here and in topology.cpp, and nowhere else.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

namespace strata::machine {

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// The topology of "system", of "synthetic:DESCRIPTION" or of an XML file. Devices are in files only. Throws
/// Error.
[[nodiscard]] HwlocTopology load_topology(const std::string& source);

}  // namespace strata::machine
