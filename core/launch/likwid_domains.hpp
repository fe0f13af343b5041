// likwid's "affinity domains": which PUs S0, C3 or M1 mean in its strings, and in which order.
#pragma once

#include <string>
#include <vector>

namespace strata::machine {
struct Machine;
}

namespace strata::launch {

/// The cores of one domain in hwloc's order, each with those of its PUs (the system's numbers) that this
/// process may use; cores without one are left out.
struct LikwidDomain {
    std::string name;
    std::vector<std::vector<int>> cores;

    /// Core by core, SMT siblings side by side: how likwid counts in "E:" expressions.
    [[nodiscard]] std::vector<int> compact() const;
    /// The first PU of every core, then every second one, and so on: how likwid counts elsewhere.
    [[nodiscard]] std::vector<int> physical_first() const;
};

/// N (all), then S (packages), D (dies), C (last level caches) and M (NUMA nodes in the system's order, those
/// without PUs too, so that numbers agree), as `likwid-pin -p` lists them.
std::vector<LikwidDomain> likwid_domains(const machine::Machine& machine);

}  // namespace strata::launch
