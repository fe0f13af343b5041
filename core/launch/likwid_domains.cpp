#include "core/launch/likwid_domains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

LikwidDomain made(const machine::Machine& machine, std::string name, const std::vector<int>& cores) {
    LikwidDomain domain{std::move(name), {}};
    for (const int core : cores) {
        std::vector<int> pus;
        for (const int pu : machine.cores[static_cast<size_t>(core)].pus)
            if (std::binary_search(machine.allowed.pus.begin(), machine.allowed.pus.end(), pu))
                pus.push_back(pu);
        if (!pus.empty()) domain.cores.push_back(std::move(pus));
    }
    return domain;
}

/// [NUMA node] -> its cores. A second memory of the same cores (HBM beside DRAM) is a node without cores.
std::vector<std::vector<int>> cores_of_nodes(const machine::Machine& machine) {
    std::vector<const machine::Memory*> memories;
    for (const machine::Memory& memory : machine.memories) memories.push_back(&memory);
    std::sort(memories.begin(), memories.end(), [](auto a, auto b) { return a->os_index < b->os_index; });
    std::vector<std::vector<int>> nodes;
    std::vector<bool> served(machine.domains.size(), false);
    for (const machine::Memory* memory : memories) {
        std::vector<int>& cores = nodes.emplace_back();
        if (!memory->domain || served[static_cast<size_t>(*memory->domain)]) continue;
        served[static_cast<size_t>(*memory->domain)] = true;
        cores = machine.domains[static_cast<size_t>(*memory->domain)].cores;
    }
    return nodes;
}

}  // namespace

std::vector<int> LikwidDomain::compact() const {
    std::vector<int> pus;
    for (const auto& core : cores) pus.insert(pus.end(), core.begin(), core.end());
    return pus;
}

std::vector<int> LikwidDomain::physical_first() const {
    std::vector<int> pus;
    const size_t count = compact().size();
    for (size_t sibling = 0; pus.size() < count; ++sibling)
        for (const auto& core : cores)
            if (sibling < core.size()) pus.push_back(core[sibling]);
    return pus;
}

std::vector<LikwidDomain> likwid_domains(const machine::Machine& machine) {
    std::map<int, std::vector<int>> packages, dies;
    std::vector<int> all;
    for (const machine::Core& core : machine.cores) {
        all.push_back(core.index);
        packages[core.package].push_back(core.index);
        dies[core.die].push_back(core.index);
    }
    std::vector<LikwidDomain> domains = {made(machine, "N", all)};
    for (const auto& [index, cores] : packages)
        domains.push_back(made(machine, fmt::format("S{}", index), cores));
    for (const auto& [index, cores] : dies)
        domains.push_back(made(machine, fmt::format("D{}", index), cores));
    int last = 0, next = 0;
    for (const machine::Cache& cache : machine.caches) last = std::max(last, cache.level);
    for (const machine::Cache& cache : machine.caches)
        if (cache.level == last && cache.type != "instruction")
            domains.push_back(made(machine, fmt::format("C{}", next++), cache.cores));
    next = 0;
    for (const auto& cores : cores_of_nodes(machine))
        domains.push_back(made(machine, fmt::format("M{}", next++), cores));
    return domains;
}

}  // namespace strata::launch
