#include "core/machine/limits.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/machine/cgroup.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

/// The value of a line "Name:\tvalue" of /proc/self/status.
std::string status_line(const std::string& status, const std::string& name) {
    std::istringstream lines(status);
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind(name + ":", 0) != 0) continue;
        const size_t first = line.find_first_not_of(" \t", name.size() + 1);
        return first == std::string::npos ? "" : line.substr(first);
    }
    return "";
}

/// What sched_autogroup asks before a session's nice value may be lowered (can_nice() in
/// kernel/sched/core.c): CAP_SYS_NICE, which root in a container often lacks, or a limit that allows it.
bool may_raise_weight(const std::string& status) {
    constexpr std::uint64_t sys_nice = 1ULL << 23;  // CAP_SYS_NICE, linux/capability.h
    std::uint64_t capabilities = 0;
    std::istringstream(status_line(status, "CapEff")) >> std::hex >> capabilities;
    if ((capabilities & sys_nice) != 0) return true;
    rlimit limit{};
    constexpr rlim_t nice_zero = 20;  // the limit counts upwards from nice 19 as 1 (getrlimit(2))
    return getrlimit(RLIMIT_NICE, &limit) == 0 && limit.rlim_cur > nice_zero;
}

bool hands_down(const std::string& folder, const std::string& controller) {
    std::istringstream words(read_file(folder + "/cgroup.subtree_control").value_or(""));
    for (std::string each; words >> each;)
        if (each == controller) return true;
    return false;
}

bool may_make_group(const std::string& controller, const std::string& root) {
    const ControllerPath where = find_controller(controller, root);
    if (where.version == 0) return false;
    const std::string own = where.folder();
    const auto writable = [](const std::string& folder) { return access(folder.c_str(), W_OK | X_OK) == 0; };
    if (where.version == 1) return writable(own);
    // Version 2: a group with processes in it hands nothing down (but the root of all), so a new group goes
    // below the own one if that hands the controller down already, else beside it.
    if (hands_down(own, controller)) return writable(own);
    if (where.path == "/" || where.path.empty()) return false;
    const std::string above = own.substr(0, own.rfind('/'));
    return hands_down(above, controller) && writable(above);
}

}  // namespace

std::vector<int> own_affinity() {
    // More CPUs than a fixed cpu_set_t holds are possible: the set grows until the kernel accepts it.
    constexpr int fewest = 1024, most = 1 << 18;
    for (int size = fewest; size <= most; size *= 2) {
        const auto count = static_cast<size_t>(size);
        const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(count),
                                                                   [](cpu_set_t* s) { CPU_FREE(s); });
        const size_t bytes = CPU_ALLOC_SIZE(count);
        CPU_ZERO_S(bytes, set.get());
        if (sched_getaffinity(0, bytes, set.get()) != 0) continue;
        std::vector<int> pus;
        for (int cpu = 0; cpu < size; ++cpu)
            if (CPU_ISSET_S(static_cast<size_t>(cpu), bytes, set.get())) pus.push_back(cpu);
        return pus;
    }
    return {};
}

std::vector<int> own_memories(const std::string& root) {
    return parse_cpulist(
        status_line(read_file(root + "/proc/self/status").value_or(""), "Mems_allowed_list"));
}

Allowed read_allowed(const std::vector<int>& affinity, const std::string& root) {
    Allowed allowed;
    allowed.pus = affinity;
    allowed.cgroup = read_cgroup(root);
    allowed.memories = own_memories(root);
    allowed.cpus_effective = static_cast<double>(affinity.size());
    if (allowed.cgroup.cpu_quota)
        allowed.cpus_effective = std::min(allowed.cpus_effective, *allowed.cgroup.cpu_quota);
    return allowed;
}

Privileges read_privileges(const std::string& root) {
    Privileges rights;
    rights.cgroup_cpu_writable = may_make_group("cpu", root);
    rights.cgroup_cpuset_writable = may_make_group("cpuset", root);
    rights.autogroup = read_number(root + "/proc/sys/kernel/sched_autogroup_enabled").value_or(0) != 0;
    rights.autogroup_nice =
        rights.autogroup && may_raise_weight(read_file(root + "/proc/self/status").value_or(""));
    return rights;
}

}  // namespace strata::machine
