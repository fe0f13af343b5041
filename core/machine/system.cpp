#include "core/machine/system.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <memory>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/machine/cgroup.hpp"
#include "core/machine/counters.hpp"
#include "core/machine/page_placement.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

constexpr std::uint64_t kKiB = 1024;

/// The number after a key such as "FilePages:" in a node's meminfo, whose lines read "Node 0 FilePages:  123
/// kB".
std::optional<std::uint64_t> meminfo_bytes(const std::string& text, const std::string& key) {
    const size_t at = text.find(" " + key);
    if (at == std::string::npos) return std::nullopt;
    std::stringstream rest(text.substr(at + 1 + key.size()));
    std::uint64_t kib = 0;
    if (!(rest >> kib)) return std::nullopt;
    return kib * kKiB;
}

void read_memories(Machine& machine) {
    // The file's own lines have no "Node 0 " before the key: a space stands in for it.
    std::string lines = read_file("/proc/meminfo").value_or("");
    std::replace(lines.begin(), lines.end(), '\n', ' ');
    machine.huge_pages.default_size_bytes = meminfo_bytes(lines, "Hugepagesize:").value_or(0);
    if (machine.memories.size() == 1) {
        // Then the system's figures are this memory's; a node's own total was seen to lag behind memory
        // plugged in later.
        Memory& only = machine.memories.front();
        only.total_bytes = meminfo_bytes(" " + lines, "MemTotal:").value_or(only.total_bytes);
        only.free_bytes = meminfo_bytes(lines, "MemFree:");
        only.page_cache_bytes = meminfo_bytes(lines, "Cached:");
    }
    for (Memory& memory : machine.memories) {
        const std::string folder = fmt::format("/sys/devices/system/node/node{}", memory.os_index);
        if (const auto info = read_file(folder + "/meminfo"); info && !memory.free_bytes) {
            memory.free_bytes = meminfo_bytes(*info, "MemFree:");
            memory.page_cache_bytes = meminfo_bytes(*info, "FilePages:");
        }
        // The sizes that Linux offers on x86 and on Arm with 4, 16 and 64 KiB base pages.
        for (const std::uint64_t kib :
             {64ULL, 2048ULL, 16384ULL, 32768ULL, 524288ULL, 1048576ULL, 16777216ULL}) {
            const std::string pool = fmt::format("{}/hugepages/hugepages-{}kB/", folder, kib);
            const auto total = read_number(pool + "nr_hugepages");
            if (!total) continue;
            memory.huge_pages.push_back(
                {kib * kKiB, static_cast<std::uint64_t>(*total),
                 static_cast<std::uint64_t>(read_number(pool + "free_hugepages").value_or(0))});
        }
    }
}

std::optional<int> megahertz(const std::string& path) {
    const auto khz = read_number(path);
    if (!khz) return std::nullopt;
    return static_cast<int>(*khz / 1000);
}

void read_frequencies(Machine& machine) {
    const std::string cpu = "/sys/devices/system/cpu/";
    for (Core& core : machine.cores) {
        const std::string folder =
            fmt::format("{}cpu{}/cpufreq/", cpu, core.pus.empty() ? 0 : core.pus.front());
        core.base_mhz = megahertz(folder + "base_frequency");
        core.max_mhz = megahertz(folder + "cpuinfo_max_freq");
        core.governor = read_file(folder + "scaling_governor");
        if (core.index == 0 && !core.max_mhz && !core.governor) break;  // no cpufreq here, as in most guests
    }
    if (const auto off = read_number(cpu + "intel_pstate/no_turbo")) {
        machine.turbo = *off == 0;
    } else if (const auto boost = read_number(cpu + "cpufreq/boost")) {
        machine.turbo = *boost != 0;
    }
}

std::optional<std::string> hypervisor() {
    if (const auto type = read_file("/sys/hypervisor/type")) return type;
#if defined(__x86_64__)
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned hypervisor_present = 1U << 31;  // CPUID 1, ECX bit 31: reserved for guests
    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & hypervisor_present) == 0) return std::nullopt;
    __cpuid(0x40000000, a, b, c, d);
    std::array<char, 13> name{};
    std::memcpy(name.data(), &b, 4);
    std::memcpy(name.data() + 4, &c, 4);
    std::memcpy(name.data() + 8, &d, 4);
    const std::string signature = name.data();
    if (signature == "KVMKVMKVM") return "kvm";
    if (signature == "Microsoft Hv") return "hyper-v";
    if (signature == "VMwareVMware") return "vmware";
    if (signature == "XenVMMXenVMM") return "xen";
    return "unknown hypervisor";
#else
    const auto product = read_file("/sys/class/dmi/id/sys_vendor");
    if (product && product->find("QEMU") != std::string::npos) return "qemu";
    return std::nullopt;
#endif
}

std::optional<std::string> container() {
    if (access("/.dockerenv", F_OK) == 0) return "docker";
    if (access("/run/.containerenv", F_OK) == 0) return "podman";
    if (access("/singularity", F_OK) == 0 || access("/.singularity.d", F_OK) == 0) return "apptainer";
    const std::string groups = read_file("/proc/1/cgroup").value_or("");
    for (const char* name : {"docker", "kubepods", "lxc"})
        if (groups.find(name) != std::string::npos) return name;
    return std::nullopt;
}

std::string operating_system() {
    std::stringstream lines(read_file("/etc/os-release").value_or(""));
    constexpr const char* key = "PRETTY_NAME=";
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(key, 0) != 0) continue;
        std::string name = line.substr(std::strlen(key));
        name.erase(std::remove(name.begin(), name.end(), '"'), name.end());
        return name;
    }
    return "Linux";
}

void read_names(Machine& machine) {
    utsname names{};
    uname(&names);
    machine.hostname = names.nodename;
    machine.kernel = names.release;
    machine.arch = names.machine;
    machine.os = operating_system();
    machine.virtualisation = hypervisor();
    machine.container = container();
}

bool folder_writable(const char* controller) {
    const ControllerPath where = find_controller(controller);
    return where.version != 0 && access(where.folder().c_str(), W_OK) == 0;
}

Privileges privileges() {
    Privileges rights;
    rights.cgroup_cpu_writable = folder_writable("cpu");
    rights.cgroup_cpuset_writable = folder_writable("cpuset");
    rights.autogroup = read_number("/proc/sys/kernel/sched_autogroup_enabled").value_or(0) != 0;
    rights.autogroup_nice = rights.autogroup && geteuid() == 0;  // a negative value needs CAP_SYS_NICE
    return rights;
}

}  // namespace

void read_affinity(Machine& machine) {
    // More CPUs than a fixed cpu_set_t holds are possible: the set grows until the kernel accepts it.
    for (int most = 1024; most <= (1 << 18); most *= 2) {
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(static_cast<size_t>(most)),
                                                                   [](cpu_set_t* s) { CPU_FREE(s); });
        const size_t bytes = CPU_ALLOC_SIZE(static_cast<size_t>(most));
        if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
        machine.allowed.pus.clear();
        for (int cpu = 0; cpu < most; ++cpu)
            if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.get())) machine.allowed.pus.push_back(cpu);
        break;
    }
    machine.allowed.cpus_effective = static_cast<double>(machine.allowed.pus.size());
}

void read_system(Machine& machine) {
    read_names(machine);
    read_memories(machine);
    read_frequencies(machine);
    machine.allowed.cgroup = read_cgroup();
    if (machine.allowed.cgroup.cpu_quota)
        machine.allowed.cpus_effective =
            std::min(machine.allowed.cpus_effective, *machine.allowed.cgroup.cpu_quota);

    const std::string status = read_file("/proc/self/status").value_or("");
    constexpr const char* key = "Mems_allowed_list:";
    if (const size_t at = status.find(key); at != std::string::npos) {
        const size_t first = status.find_first_not_of(" \t", at + std::strlen(key));
        machine.allowed.memories = parse_cpulist(status.substr(first, status.find('\n', first) - first));
    }
    machine.huge_pages.transparent = read_choice("/sys/kernel/mm/transparent_hugepage/enabled");
    machine.huge_pages.shmem = read_choice("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
    machine.counters = try_counters();
    const std::vector<int>& memories = machine.allowed.memories;
    machine.placement = try_page_placement(memories.empty() ? 0 : memories.front());
    machine.privileges = privileges();
    if (const auto balancing = read_number("/proc/sys/kernel/numa_balancing"))
        machine.numa_balancing = static_cast<int>(*balancing);
}

}  // namespace strata::machine
