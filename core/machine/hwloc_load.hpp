// hwloc's topology, loaded. hwloc is included here, in topology.cpp and topology_xml.cpp, and nowhere else.
#pragma once

#include <hwloc.h>

#include <memory>
#include <string>

namespace strata::machine {

struct DestroyTopology {
    void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using HwlocTopology = std::unique_ptr<hwloc_topology, DestroyTopology>;

/// The topology of "system", of "synthetic:DESCRIPTION" or of an XML file. Devices are those of a file, and
/// of the system where asked for. Throws Error.
[[nodiscard]] HwlocTopology load_topology(const std::string& source, bool system_devices = false);

}  // namespace strata::machine
