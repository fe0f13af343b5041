#include "core/team/supply.hpp"

#include <fmt/format.h>

#include "core/machine/cgroup.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::team {
namespace {

constexpr std::uint64_t kKiB = 1024;
/// In version 1 a memory limit at or above this means "none".
constexpr std::uint64_t kNoLimit = 1ULL << 60;

/// The rest of a group's limit; none where it has no limit.
std::optional<std::uint64_t> left_in(const std::string& folder, int version) {
    const bool v2 = version == 2;
    const auto number_in = [&](const char* file) {
        return machine::read_number<std::uint64_t>(folder + file);
    };
    const auto limit = number_in(v2 ? "/memory.max" : "/memory.limit_in_bytes");
    const auto used = number_in(v2 ? "/memory.current" : "/memory.usage_in_bytes");
    if (!limit || *limit >= kNoLimit || !used) return {};
    const std::string stat = machine::read_file(folder + "/memory.stat").value_or("");
    const std::string before = v2 ? "" : "total_";  // version 1: with the groups below
    std::uint64_t firm = *used;
    for (const char* key : {"active_file", "inactive_file"})
        firm -= std::min(firm, machine::number_after(stat, before + key).value_or(0));
    return *limit - std::min(*limit, firm);
}

}  // namespace

Supply memory_supply(const std::string& root) {
    const std::string info = machine::read_file(root + "/proc/meminfo").value_or("");
    Supply supply{UINT64_MAX, "not known"};
    if (const auto kib = machine::number_after(info, "MemAvailable:"))
        supply = {*kib * kKiB, "available on this system"};
    const machine::ControllerPath where = machine::find_controller("memory", root);
    if (where.version == 0 || where.path.empty()) return supply;
    // A limit of an ancestor also holds for its descendants.
    for (std::string path = where.path == "/" ? "" : where.path;; path.erase(path.rfind('/'))) {
        if (const auto left = left_in(where.mount + path, where.version); left && *left < supply.bytes)
            supply = {*left, fmt::format("left in the cgroup {}", path.empty() ? "/" : path)};
        if (path.find('/') == std::string::npos) break;
    }
    return supply;
}

std::optional<std::uint64_t> supply_of_memory(int memory, const std::string& root) {
    const auto info =
        machine::read_file(fmt::format("{}/sys/devices/system/node/node{}/meminfo", root, memory));
    if (!info) return {};
    const auto free = machine::number_after(*info, "MemFree:");
    if (!free) return {};
    return (*free + machine::number_after(*info, "Active(file):").value_or(0) +
            machine::number_after(*info, "Inactive(file):").value_or(0)) *
           kKiB;
}

}  // namespace strata::team
