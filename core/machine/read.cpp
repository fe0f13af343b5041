#include "core/machine/devices.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/machine.hpp"
#include "core/machine/system.hpp"
#include "core/machine/topology.hpp"
#include "core/machine/topology_cache.hpp"

namespace strata::machine {

Machine read_machine(const Source& source) {
    Machine machine;
    const bool is_file = source.text != "system" && source.text.rfind("synthetic:", 0) != 0;
    machine.source = is_file ? "xml:" + source.text : source.text;
    if (machine.is_system() && (source.cached || source.recached)) {
        read_topology_cached(machine, source.recached);
    } else {
        read_topology(source, machine);
    }
    if (!machine.is_system()) return machine;
    if (source.with_devices) machine.devices = read_devices(machine);
    if (source.with_limits) {
        read_system(machine);
    } else {
        machine.allowed.pus = own_affinity();
        machine.allowed.memories = own_memories();
        machine.allowed.cpus_effective = static_cast<double>(machine.allowed.pus.size());
    }
    return machine;
}

}  // namespace strata::machine
