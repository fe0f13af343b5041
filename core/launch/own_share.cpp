#include "core/launch/own_share.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "core/launch/proc.hpp"

namespace strata::launch {
namespace {

constexpr long kMostWeight = 10000;   // cgroup v2: 1..10000, default 100
constexpr long kMostShares = 262144;  // cgroup v1: 2..262144, default 1024

bool holds_word(const std::string& list, const std::string& word, char by) {
    std::istringstream in(list);
    for (std::string item; std::getline(in, item, by);)
        if (item.substr(0, item.find('\n')) == word) return true;
    return false;
}

std::string parent_of(const std::string& folder) { return folder.substr(0, folder.rfind('/')); }

/// Folder of the hierarchy's mount that shows `path`: mountinfo's fourth field is the part of it that is
/// mounted.
std::string mounted_at(const std::string& mounts, const std::string& type, const std::string& option,
                       const std::string& path) {
    std::istringstream lines(mounts);
    for (std::string line; std::getline(lines, line);) {
        const size_t dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::istringstream left(line.substr(0, dash)), right(line.substr(dash + 3));
        std::string id, parent, device, root, point, kind, source, options;
        left >> id >> parent >> device >> root >> point;
        right >> kind >> source >> options;
        if (kind != type || (!option.empty() && !holds_word(options, option, ','))) continue;
        if (root == "/") return path == "/" ? point : point + path;
        if (path.compare(0, root.size(), root) == 0) return point + path.substr(root.size());
        return point;
    }
    return "";
}

/// Version 2: a weight counts where the parent hands the controller down, and a group that holds processes
/// may not do so (except the root). So: below the own group if it already does, else beside it when the own
/// group sets no limit that would be escaped by leaving it.
std::vector<std::string> parents_v2(const std::string& own) {
    std::vector<std::string> parents;
    const auto hands_down = [](const std::string& folder) {
        const auto control = read_text(folder + "/cgroup.subtree_control");
        return control && holds_word(*control, "cpu", ' ');
    };
    if (hands_down(own)) parents.push_back(own);
    const auto limited = [&](const char* file, const char* none) {
        const auto text = read_text(own + "/" + file);
        return text && text->compare(0, std::string(none).size(), none) != 0;
    };
    const auto cpus = read_text(own + "/cpuset.cpus");
    const bool free = !limited("memory.max", "max") && !limited("cpu.max", "max") &&
                      !limited("pids.max", "max") && (!cpus || cpus->size() <= 1);
    const std::string above = parent_of(own);
    if (free && access((own + "/cgroup.procs").c_str(), F_OK) == 0 && hands_down(above))
        parents.push_back(above);
    return parents;
}

bool autogroups_on() {
    const auto on = read_text("/proc/sys/kernel/sched_autogroup_enabled");
    return on && !on->empty() && on->front() == '1' && access("/proc/self/autogroup", F_OK) == 0;
}

/// The best nice value this process may give: -20 with CAP_SYS_NICE, else what RLIMIT_NICE grants (20 -
/// limit).
long best_nice() {
    if (geteuid() == 0) return -20;
    rlimit limit{};
    if (getrlimit(RLIMIT_NICE, &limit) != 0) return 0;
    const long most = limit.rlim_cur == RLIM_INFINITY ? 40 : static_cast<long>(limit.rlim_cur);
    return std::max(-20L, std::min(0L, 20 - most));
}

}  // namespace

CpuGroup own_cpu_group(const std::string& cgroup, const std::string& mounts) {
    const std::string groups = read_text(cgroup).value_or(""), table = read_text(mounts).value_or("");
    std::string unified;
    std::istringstream lines(groups);
    for (std::string line; std::getline(lines, line);) {
        const size_t first = line.find(':'), second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1),
                          path = line.substr(second + 1);
        if (holds_word(controllers, "cpu", ',')) {
            const std::string folder = mounted_at(table, "cgroup", "cpu", path);
            if (!folder.empty()) return {1, folder, path == "/"};
        }
        if (controllers.empty()) unified = path;
    }
    if (unified.empty()) return {};
    const std::string folder = mounted_at(table, "cgroup2", "", unified);
    if (folder.empty()) return {};
    // Version 2 with its cpu controller bound elsewhere (hybrid without "cpu" in version 1 either) has none
    // of these.
    const auto controllers = read_text(folder + "/cgroup.controllers");
    if (!controllers || !holds_word(*controllers, "cpu", ' ')) return {};
    // Only the root has no cpu.weight; without the controller, a group's processes count as its nearest
    // ancestor's.
    std::string at = folder;
    bool root = access((at + "/cpu.weight").c_str(), F_OK) != 0;
    while (root && unified != "/" && access((parent_of(at) + "/cgroup.procs").c_str(), F_OK) == 0) {
        at = parent_of(at);
        root = access((at + "/cpu.weight").c_str(), F_OK) != 0;
    }
    return {2, folder, root};
}

std::vector<std::string> cgroup_parents(const CpuGroup& group) {
    if (group.version == 1) return {group.folder};
    if (group.version == 2) return parents_v2(group.folder);
    return {};
}

OwnShare::OwnShare(bool asked, const std::string& name) {
    const CpuGroup group = own_cpu_group();
    const bool sessions_count = autogroups_on() && (group.version == 0 || group.root);
    if (sessions_count) share_ = {"session-autogroup", 0, ""};
    if (!asked) return;
    if (make_group(group, name)) return;
    const long nice = best_nice();
    if (sessions_count && nice < 0) {
        share_ = {"autogroup-nice", nice, "no cpu cgroup can be made here"};
        return;
    }
    share_.why = sessions_count ? "no cpu cgroup can be made here, and this user may not lower a nice value"
                                : "no cpu cgroup can be made here, and sessions are not groups of their own";
}

bool OwnShare::make_group(const CpuGroup& group, const std::string& name) {
    for (const std::string& parent : cgroup_parents(group)) {
        const std::string folder = parent + "/" + name;
        if (mkdir(folder.c_str(), 0755) != 0) continue;
        const bool two = group.version == 2;
        const long value = two ? kMostWeight : kMostShares;
        if (write_text(folder + (two ? "/cpu.weight" : "/cpu.shares"), std::to_string(value)) &&
            access((folder + "/cgroup.procs").c_str(), W_OK) == 0) {
            folder_ = folder;
            share_ = {two ? "cgroup2-weight" : "cgroup1-shares", value, ""};
            return true;
        }
        rmdir(folder.c_str());
    }
    return false;
}

void OwnShare::join() const {
    if (!folder_.empty()) write_text(folder_ + "/cgroup.procs", "0");
    if (share_.method == "autogroup-nice") write_text("/proc/self/autogroup", std::to_string(share_.value));
}

OwnShare::~OwnShare() {
    if (folder_.empty()) return;
    // A process that has just been collected may hold its group for an instant longer.
    for (int i = 0; i < 50 && rmdir(folder_.c_str()) != 0; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

}  // namespace strata::launch
