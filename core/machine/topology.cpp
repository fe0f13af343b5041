#include "core/machine/topology.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/machine/core_kinds.hpp"
#include "core/machine/hwloc_load.hpp"

namespace strata::machine {
namespace {

std::vector<int> numbers(hwloc_const_bitmap_t set) {
    std::vector<int> list;
    if (set == nullptr || hwloc_bitmap_weight(set) < 0) return list;
    for (int i = hwloc_bitmap_first(set); i >= 0; i = hwloc_bitmap_next(set, i)) list.push_back(i);
    return list;
}

std::string info(hwloc_obj_t object, const char* name) {
    const char* value = hwloc_obj_get_info_by_name(object, name);
    return value == nullptr ? "" : value;
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

/// Finds the place of hwloc's objects in the plain lists.
class Reader {
  public:
    Reader(hwloc_topology_t topology, Machine& machine) : topology_(topology), machine_(machine) {}

    void read() {
        packages();
        cores();
        domains();
        memories();
        adopt_cores_without_memory();
        distances();
        caches();
        kinds();
        devices();
    }

  private:
    hwloc_topology_t topology_;
    Machine& machine_;
    std::vector<int> core_of_pu_;  // -1: none
    std::map<hwloc_obj_t, int> memory_of_;

    template <class F>
    void each(hwloc_obj_type_t type, F&& visit) {
        hwloc_obj_t object = nullptr;
        while ((object = hwloc_get_next_obj_by_type(topology_, type, object)) != nullptr) visit(object);
    }

    std::vector<int> cores_within(hwloc_const_bitmap_t set) const {
        std::vector<int> list;
        for (const int pu : numbers(set))
            if (static_cast<size_t>(pu) < core_of_pu_.size() && core_of_pu_[static_cast<size_t>(pu)] >= 0)
                list.push_back(core_of_pu_[static_cast<size_t>(pu)]);
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
        return list;
    }

    void packages() {
        each(HWLOC_OBJ_PACKAGE, [&](hwloc_obj_t package) {
            machine_.packages.push_back({static_cast<int>(package->logical_index),
                                         static_cast<int>(package->os_index), numbers(package->cpuset)});
            if (machine_.cpu_model.empty()) machine_.cpu_model = info(package, "CPUModel");
        });
        if (machine_.packages.empty()) {
            machine_.packages.push_back({0, 0, numbers(hwloc_topology_get_topology_cpuset(topology_))});
        }
    }

    /// The die that holds an object; none where packages are not divided (hwloc merges such dies away).
    [[nodiscard]] std::optional<int> die_of(hwloc_obj_t object) const {
#if HWLOC_API_VERSION >= 0x00020100
        const hwloc_obj_t die = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_DIE, object);
        if (die != nullptr) return static_cast<int>(die->logical_index);
#else
        (void)object;
#endif
        return std::nullopt;
    }

    void cores() {
        // Some virtual machines and synthetic descriptions have no cores, only PUs: then each PU is one.
        const bool has_cores = hwloc_get_nbobjs_by_type(topology_, HWLOC_OBJ_CORE) > 0;
        each(has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU, [&](hwloc_obj_t object) {
            Core core;
            core.index = static_cast<int>(object->logical_index);
            core.os_index = static_cast<int>(object->os_index);
            core.pus = numbers(object->cpuset);
            const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology_, HWLOC_OBJ_PACKAGE, object);
            core.package = package == nullptr ? 0 : static_cast<int>(package->logical_index);
            core.die = die_of(object).value_or(core.package);
            for (const int pu : core.pus) {
                const auto at = static_cast<size_t>(pu);
                if (at >= core_of_pu_.size()) core_of_pu_.resize(at + 1, -1);
                core_of_pu_[at] = core.index;
            }
            machine_.cores.push_back(core);
        });
    }

    /// A domain is the smallest set of cores that some memory is local to. Memories whose set contains other
    /// memories' sets (one DRAM for two halves with an HBM each) make no domain of their own where the halves
    /// cover them.
    void domains() {
        std::vector<hwloc_const_bitmap_t> sets;
        each(HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t node) {
            if (hwloc_bitmap_iszero(node->cpuset)) return;
            const bool known = std::any_of(sets.begin(), sets.end(), [&](auto set) {
                return hwloc_bitmap_isequal(set, node->cpuset) != 0;
            });
            if (!known) sets.push_back(node->cpuset);
        });
        const auto contains_another = [&](hwloc_const_bitmap_t set) {
            return std::any_of(sets.begin(), sets.end(), [&](auto other) {
                return !hwloc_bitmap_isequal(other, set) && hwloc_bitmap_isincluded(other, set);
            });
        };
        sets.erase(std::remove_if(sets.begin(), sets.end(), contains_another), sets.end());
        std::sort(sets.begin(), sets.end(),
                  [](auto a, auto b) { return hwloc_bitmap_first(a) < hwloc_bitmap_first(b); });
        if (sets.empty()) sets.push_back(hwloc_topology_get_topology_cpuset(topology_));
        for (const auto set : sets) {
            Domain domain;
            domain.index = static_cast<int>(machine_.domains.size());
            domain.pus = numbers(set);
            domain.cores = cores_within(set);
            for (const int core : domain.cores)
                machine_.cores[static_cast<size_t>(core)].domain = domain.index;
            machine_.domains.push_back(domain);
        }
    }

    /// A core without any memory of its own (a package with empty slots) works from the first domain of its
    /// package, or else of the machine.
    void adopt_cores_without_memory() {
        std::vector<bool> has_memory(machine_.cores.size(), false);
        for (const Domain& domain : machine_.domains)
            for (const int core : domain.cores) has_memory[static_cast<size_t>(core)] = true;
        for (Core& core : machine_.cores) {
            if (has_memory[static_cast<size_t>(core.index)]) continue;
            const auto same_package = [&](const Domain& domain) {
                return !domain.cores.empty() &&
                       machine_.cores[static_cast<size_t>(domain.cores.front())].package == core.package;
            };
            auto home = std::find_if(machine_.domains.begin(), machine_.domains.end(), same_package);
            if (home == machine_.domains.end()) home = machine_.domains.begin();
            core.domain = home->index;
            home->cores.push_back(core.index);
            home->pus.insert(home->pus.end(), core.pus.begin(), core.pus.end());
        }
        for (Domain& domain : machine_.domains) {
            std::sort(domain.cores.begin(), domain.cores.end());
            std::sort(domain.pus.begin(), domain.pus.end());
        }
    }

    static std::string kind(hwloc_obj_t node) {
        const std::string subtype = node->subtype == nullptr ? "" : node->subtype;
        if (subtype == "MCDRAM" || subtype == "HBM") return "HBM";
        if (subtype == "DRAM" || subtype == "NVM") return subtype;
        if (starts_with(subtype, "CXL") || !info(node, "CXLDevice").empty()) return "CXL";
        if (subtype == "GPUMemory") return "GPU";
        if (info(node, "DAXType") == "NVM") return "NVM";
        return "unknown";
    }

    /// In the order of the system's numbers, which people see and give: hwloc's order is that of packages.
    void memories() {
        std::vector<hwloc_obj_t> nodes;
        each(HWLOC_OBJ_NUMANODE, [&](hwloc_obj_t node) { nodes.push_back(node); });
        std::sort(nodes.begin(), nodes.end(), [](auto a, auto b) { return a->os_index < b->os_index; });
        for (const hwloc_obj_t node : nodes) {
            Memory memory;
            memory.index = memory_of_[node] = static_cast<int>(machine_.memories.size());
            memory.os_index = static_cast<int>(node->os_index);
            memory.kind = kind(node);
            memory.total_bytes = node->attr->numanode.local_memory;
            // hwloc gives a memory without cores the set of what it hangs from: only an exact match is a
            // domain's own.
            const std::vector<int> local = cores_within(node->cpuset);
            const auto within = [&](const Domain& domain) {
                return std::includes(local.begin(), local.end(), domain.cores.begin(), domain.cores.end());
            };
            const auto near = std::find_if(machine_.domains.begin(), machine_.domains.end(), within);
            if (near != machine_.domains.end()) memory.nearest_domain = near->index;
            for (Domain& domain : machine_.domains) {
                if (domain.cores != local) continue;
                domain.memories.push_back(memory.index);
                memory.domain = memory.nearest_domain = domain.index;
            }
            machine_.memories.push_back(memory);
        }
    }

    void distances() {
        hwloc_distances_s* found = nullptr;
        unsigned count = 1;
        if (hwloc_distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &count, &found,
                                        HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) != 0 ||
            count == 0 || found == nullptr) {
            return;
        }
        Distances distances;
        distances.source = (found->kind & HWLOC_DISTANCES_KIND_FROM_OS) != 0 ? "firmware" : "file";
        std::vector<std::pair<int, unsigned>> places;  // of memories in hwloc's table
        for (unsigned i = 0; i < found->nbobjs; ++i) places.emplace_back(memory_of_.at(found->objs[i]), i);
        std::sort(places.begin(), places.end());
        for (const auto& [memory, i] : places) {
            distances.memories.push_back(memory);
            auto& row = distances.matrix.emplace_back();
            for (const auto& [other, j] : places)
                row.push_back(static_cast<double>(found->values[i * found->nbobjs + j]));
        }
        hwloc_distances_release(topology_, found);
        nearest_domains(distances);
        machine_.distances = distances;
    }

    /// A memory without cores is nearest to the domain with whose memory it shares the smallest distance.
    void nearest_domains(const Distances& distances) {
        for (size_t i = 0; i < distances.memories.size(); ++i) {
            Memory& memory = machine_.memories[static_cast<size_t>(distances.memories[i])];
            if (memory.domain) continue;
            double least = std::numeric_limits<double>::infinity();
            for (size_t j = 0; j < distances.memories.size(); ++j) {
                const auto& domain = machine_.memories[static_cast<size_t>(distances.memories[j])].domain;
                if (!domain || distances.matrix[i][j] >= least) continue;
                least = distances.matrix[i][j];
                memory.nearest_domain = *domain;
            }
        }
    }

    void caches() {
        const auto add = [&](hwloc_obj_type_t type, const char* name) {
            each(type, [&](hwloc_obj_t object) {
                const auto& cache = object->attr->cache;
                machine_.caches.push_back({static_cast<int>(cache.depth), name, cache.size,
                                           cache.linesize > 0 ? static_cast<int>(cache.linesize) : 64,
                                           cache.associativity, cores_within(object->cpuset)});
            });
        };
        const auto data = [&](hwloc_obj_type_t type) {
            const hwloc_obj_t first = hwloc_get_obj_by_type(topology_, type, 0);
            if (first == nullptr) return;
            add(type, first->attr->cache.type == HWLOC_OBJ_CACHE_UNIFIED ? "unified" : "data");
        };
        for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE})
            data(type);
        add(HWLOC_OBJ_L1ICACHE, "instruction");
    }

    void kinds() {
#if HWLOC_API_VERSION >= 0x00020400
        const int count = hwloc_cpukinds_get_nr(topology_, 0);
        for (int i = 0; i < count; ++i) {
            const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> set(hwloc_bitmap_alloc(),
                                                                                    &hwloc_bitmap_free);
            CoreKind kind;
            kind.index = i;
            unsigned infos = 0;
            hwloc_info_s* info = nullptr;
            if (hwloc_cpukinds_get_info(topology_, static_cast<unsigned>(i), set.get(), &kind.efficiency,
                                        &infos, &info, 0) != 0) {
                continue;
            }
            for (unsigned k = 0; k < infos; ++k) kind.info.emplace_back(info[k].name, info[k].value);
            kind.cores = cores_within(set.get());
            machine_.core_kinds.push_back(kind);
        }
        join_close_kinds(machine_);
#endif
    }

    std::optional<int> nearest_domain(hwloc_obj_t device) const {
        if (machine_.domains.size() == 1) return 0;
        const hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(topology_, device);
        if (near == nullptr || near->cpuset == nullptr) return std::nullopt;
        const std::vector<int> cores = cores_within(near->cpuset);
        for (const Domain& domain : machine_.domains)
            if (!cores.empty() &&
                std::includes(domain.cores.begin(), domain.cores.end(), cores.begin(), cores.end()))
                return domain.index;
        return std::nullopt;
    }

    void devices() {
        std::set<const hwloc_obj*> cards;  // one card shows itself as card0 and renderD128: named once
        each(HWLOC_OBJ_OS_DEVICE, [&](hwloc_obj_t device) {
            std::string type = "other";
            switch (device->attr->osdev.type) {
                case HWLOC_OBJ_OSDEV_NETWORK:
                case HWLOC_OBJ_OSDEV_OPENFABRICS:
                    type = "network";
                    break;
                case HWLOC_OBJ_OSDEV_GPU:
                case HWLOC_OBJ_OSDEV_COPROC:
                    type = "gpu";
                    break;
                case HWLOC_OBJ_OSDEV_BLOCK:
                    type = "storage";
                    break;
                default:
                    return;  // DMA engines are no devices to place a program near
            }
            if (type == "gpu" && device->parent != nullptr && !cards.insert(device->parent).second) return;
            std::string description = info(device, "GPUModel");
            if (description.empty()) description = info(device, "Model");
            if (description.empty() && device->parent != nullptr)
                description = info(device->parent, "PCIDevice");
            machine_.devices.push_back(
                {type, device->name == nullptr ? "" : device->name, description, nearest_domain(device)});
        });
    }
};

}  // namespace

void read_topology(const Source& source, Machine& machine) {
    const HwlocTopology topology = load_topology(source.text);
    Reader(topology.get(), machine).read();
    if (source.text == "system") return;
    // A described machine has no process on it: all of it may be used.
    machine.allowed.pus = numbers(hwloc_topology_get_topology_cpuset(topology.get()));
    for (const Memory& memory : machine.memories) machine.allowed.memories.push_back(memory.os_index);
    machine.allowed.cpus_effective = static_cast<double>(machine.allowed.pus.size());
    const hwloc_obj_t root = hwloc_get_root_obj(topology.get());
    machine.hostname = info(root, "HostName");
    machine.os = info(root, "OSName");
    machine.kernel = info(root, "OSRelease");
    machine.arch = info(root, "Architecture");
    if (machine.cpu_model.empty()) machine.cpu_model = info(root, "CPUModel");
}

}  // namespace strata::machine
