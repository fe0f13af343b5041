#include "core/machine/cgroup.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

/// A memory limit at or above this is version 1's way of saying "none" (LONG_MAX rounded to pages).
constexpr std::uint64_t kNoLimit = 1ULL << 60;

bool has_word(const std::string& list, const std::string& word) {
    std::stringstream words(list);
    for (std::string each; std::getline(words, each, ',');)
        if (each == word) return true;
    return false;
}

struct Mount {
    int version;
    std::string root, point, controllers;
};

/// The cgroup lines of mountinfo: "id parent dev root point options ... - type source super-options"
/// (proc(5)).
std::vector<Mount> cgroup_mounts(const std::string& root) {
    std::vector<Mount> mounts;
    std::stringstream lines(read_file(root + "/proc/self/mountinfo").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        const size_t dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::stringstream head(line.substr(0, dash)), tail(line.substr(dash + 3));
        std::string skip, mounted, point, type, source, controllers;
        head >> skip >> skip >> skip >> mounted >> point;
        tail >> type >> source >> controllers;
        if (type == "cgroup2") mounts.push_back({2, mounted, root + point, ""});
        if (type == "cgroup") mounts.push_back({1, mounted, root + point, controllers});
    }
    return mounts;
}

/// This process's path in a hierarchy: "id:controllers:path" lines, version 2 having no controllers.
std::string own_path(const std::string& root, const std::string& controller) {
    std::stringstream lines(read_file(root + "/proc/self/cgroup").value_or(""));
    for (std::string line; std::getline(lines, line);) {
        const size_t first = line.find(':');
        const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string names = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? names.empty() : has_word(names, controller)) return line.substr(second + 1);
    }
    return "";
}

/// A container sees its own part of the hierarchy mounted at the top: the mount's root is taken off the path.
std::string below_mount(const std::string& path, const std::string& mounted) {
    if (mounted == "/" || path.rfind(mounted, 0) != 0) return path;
    const std::string rest = path.substr(mounted.size());
    if (rest.empty()) return "/";
    return rest.front() == '/' ? rest : path;
}

/// The folders from the process's own up to the mount point.
std::vector<std::string> folders(const ControllerPath& where) {
    std::vector<std::string> list;
    std::string path = where.path;
    while (path.size() > 1) {
        list.push_back(where.mount + path);
        path = path.substr(0, path.rfind('/'));
    }
    list.push_back(where.mount);
    return list;
}

template <class T>
void take_smaller(std::optional<T>& kept, std::optional<T> found) {
    if (found && (!kept || *found < *kept)) kept = found;
}

std::optional<std::uint64_t> memory_limit(const std::string& folder, int version) {
    const auto bytes =
        read_number<std::uint64_t>(folder + (version == 2 ? "/memory.max" : "/memory.limit_in_bytes"));
    return bytes && *bytes < kNoLimit ? bytes : std::nullopt;
}

/// CPUs' worth of time: quota over period.
std::optional<double> cpu_quota(const std::string& folder, int version) {
    if (version == 2) {
        std::stringstream text(read_file(folder + "/cpu.max").value_or(""));
        double quota = 0, period = 0;
        if (text >> quota >> period && period > 0) return quota / period;  // "max 100000" has no number first
        return {};
    }
    const auto quota = read_number(folder + "/cpu.cfs_quota_us");
    const auto period = read_number(folder + "/cpu.cfs_period_us");
    if (!quota || !period || *quota <= 0 || *period <= 0) return {};
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::string> effective_list(const std::string& folder, const char* name, int version) {
    const std::string file = folder + "/cpuset." + name;
    auto list = read_file(version == 2 ? file + ".effective" : folder + "/cpuset.effective_" + name);
    if (!list) list = read_file(file);
    return list && !list->empty() ? list : std::nullopt;
}

}  // namespace

ControllerPath find_controller(const std::string& controller, const std::string& root) {
    const std::vector<Mount> mounts = cgroup_mounts(root);
    for (const Mount& mount : mounts) {
        if (mount.version != 1 || !has_word(mount.controllers, controller)) continue;
        return {1, mount.point, below_mount(own_path(root, controller), mount.root)};
    }
    for (const Mount& mount : mounts) {
        if (mount.version != 2) continue;
        // The top folder lists what the kernel offers here; beside version 1 it offers only what that does
        // not hold.
        std::stringstream offered(read_file(mount.point + "/cgroup.controllers").value_or(""));
        for (std::string each; offered >> each;)
            if (each == controller) return {2, mount.point, below_mount(own_path(root, ""), mount.root)};
    }
    return {};
}

Cgroup read_cgroup(const std::string& root) {
    Cgroup cgroup;
    for (const char* controller : {"cpu", "memory", "cpuset"}) {
        const ControllerPath where = find_controller(controller, root);
        if (where.version == 0 || where.path.empty()) continue;
        if (!cgroup.version) {
            cgroup.version = where.version;
            cgroup.path = where.path;
        }
        const std::string name = controller;
        if (name == "cpuset") {
            cgroup.cpuset = effective_list(where.folder(), "cpus", where.version);
            cgroup.mems = effective_list(where.folder(), "mems", where.version);
            continue;
        }
        for (const std::string& folder : folders(where)) {
            if (name == "cpu") take_smaller(cgroup.cpu_quota, cpu_quota(folder, where.version));
            if (name == "memory")
                take_smaller(cgroup.memory_limit_bytes, memory_limit(folder, where.version));
        }
    }
    return cgroup;
}

}  // namespace strata::machine
