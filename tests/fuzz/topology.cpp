// Topologies as hwloc's XML. hwloc itself is tried in a child first, so only what survives that comes to
// Strata's own lists.
#include "core/machine/topology.hpp"

#include "core/machine/machine.hpp"
#include "tests/fuzz/fuzz.hpp"

/// hwloc leaves objects behind where it refuses a file.
extern "C" const char* __lsan_default_suppressions() { return "leak:libhwloc"; }

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const strata::fuzz::InputFile file;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        strata::machine::Machine machine;
        strata::machine::read_topology({file.holding(text).string()}, machine);
    });
    return 0;
}
