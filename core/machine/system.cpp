#include "core/machine/system.hpp"

#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

#include "core/machine/counters.hpp"
#include "core/machine/frequency.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/memory_use.hpp"
#include "core/machine/page_placement.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

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
    machine.container = read_container();
}

}  // namespace

std::optional<std::string> read_container(const std::string& root) {
    const auto there = [&](const char* path) { return access((root + path).c_str(), F_OK) == 0; };
    // Docker's mark also lies in virtual machines that were made from an image: there, the root is a disk.
    const std::string mounts = read_file(root + "/proc/self/mountinfo").value_or("");
    std::istringstream lines(mounts);
    bool on_disk = false;
    for (std::string line; std::getline(lines, line);)
        if (line.find(" / / ") != std::string::npos) on_disk = line.find(" /dev/") != std::string::npos;
    if (there("/.dockerenv") && !on_disk) return "docker";
    if (there("/run/.containerenv")) return "podman";
    if (there("/singularity") || there("/.singularity.d")) return "apptainer";
    const std::string groups = read_file(root + "/proc/1/cgroup").value_or("");
    for (const char* name : {"docker", "kubepods", "lxc"})
        if (groups.find(name) != std::string::npos) return name;
    return std::nullopt;
}

void read_system(Machine& machine) {
    read_names(machine);
    read_memory_use(machine);
    read_frequencies(machine);
    machine.allowed = read_allowed(own_affinity());
    machine.huge_pages = read_huge_pages();
    machine.counters = try_counters();
    const std::vector<int>& memories = machine.allowed.memories;
    machine.placement = try_page_placement(memories.empty() ? 0 : memories.front());
    machine.privileges = read_privileges();
    if (const auto balancing = read_number("/proc/sys/kernel/numa_balancing"))
        machine.numa_balancing = static_cast<int>(*balancing);
}

}  // namespace strata::machine
