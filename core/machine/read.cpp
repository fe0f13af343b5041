#include "core/machine/machine.hpp"
#include "core/machine/system.hpp"
#include "core/machine/topology.hpp"

namespace strata::machine {

Machine read_machine(const Source& source) {
    Machine machine;
    const bool is_file = source.text != "system" && source.text.rfind("synthetic:", 0) != 0;
    machine.source = is_file ? "xml:" + source.text : source.text;
    read_topology(source, machine);
    if (!machine.is_system()) return machine;
    read_affinity(machine);
    if (source.with_limits) read_system(machine);
    return machine;
}

}  // namespace strata::machine
