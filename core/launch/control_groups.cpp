#include "core/launch/control_groups.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <sstream>
#include <thread>

#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

bool hands_down(const std::string& folder, const std::string& controller) {
    std::istringstream words(machine::read_file(folder + "/cgroup.subtree_control").value_or(""));
    for (std::string word; words >> word;)
        if (word == controller) return true;
    return false;
}

/// Whether the group itself sets a limit: its processes may not be moved out of it by us.
bool sets_a_limit(const std::string& folder) {
    const auto says = [&](const char* file, const char* none) {
        const auto text = machine::read_file(folder + "/" + file);
        return text && text->rfind(none, 0) != 0;
    };
    const auto cpus = machine::read_file(folder + "/cpuset.cpus"),
               mems = machine::read_file(folder + "/cpuset.mems");
    return says("memory.max", "max") || says("cpu.max", "max") || says("pids.max", "max") ||
           (cpus && !cpus->empty()) || (mems && !mems->empty());
}

}  // namespace

bool remove_group(const std::string& folder, double wait_s) {
    // What a partition had taken from the rest goes back now: removing the group alone gives it back some
    // milliseconds later, and the next command would find fewer processors than there are.
    (void)machine::write_file(folder + "/cpuset.cpus.partition", "member");
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(wait_s);
    while (rmdir(folder.c_str()) != 0) {
        if (errno != EBUSY || std::chrono::steady_clock::now() >= end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
}

std::vector<std::string> group_parents(const std::string& controller, const std::string& root) {
    const machine::ControllerPath where = machine::find_controller(controller, root);
    if (where.version == 0 || where.path.empty()) return {};
    const std::string own = where.folder();
    if (where.version == 1) return {own};
    std::vector<std::string> parents;
    if (hands_down(own, controller)) parents.push_back(own);
    if (where.path == "/") return parents;
    const std::string above = own.substr(0, own.rfind('/'));
    if (!sets_a_limit(own) && hands_down(above, controller)) parents.push_back(above);
    return parents;
}

std::vector<std::string> all_group_parents() {
    std::vector<std::string> all;
    for (const char* controller : {"cpu", "cpuset", "memory"})
        for (std::string& parent : group_parents(controller)) all.push_back(std::move(parent));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

RunGroups::~RunGroups() {
    for (const Group& group : groups_) remove_group(group.folder);
}

std::string RunGroups::folder(const std::string& controller) const {
    for (const Group& group : groups_)
        if (group.controller == controller) return group.folder;
    return "";
}

std::vector<std::string> RunGroups::parents_for(const std::string& controller,
                                                const std::vector<std::string>& together) const {
    std::vector<std::string> parents = group_parents(controller);
    if (machine::find_controller(controller).version != 2) return parents;
    // A process is in one group of version 2: all controllers that come from it must be handed down at one
    // place, the place of the group that is there already, if there is one.
    for (const std::string& other : together) {
        if (machine::find_controller(other).version != 2) continue;
        const std::vector<std::string> others = group_parents(other);
        std::erase_if(parents, [&](const std::string& parent) {
            return std::find(others.begin(), others.end(), parent) == others.end();
        });
    }
    for (const Group& group : groups_)
        if (machine::find_controller(group.controller).version == 2)
            std::erase_if(parents,
                          [&](const std::string& parent) { return parent + "/" + name_ != group.folder; });
    return parents;
}

bool RunGroups::make_one(const std::string& controller, const std::vector<std::string>& together,
                         std::string& why) {
    for (const std::string& parent : parents_for(controller, together)) {
        const std::string made = parent + "/" + name_;
        const bool shared = folder_is_used(made);
        if (!shared && mkdir(made.c_str(), 0755) != 0) {
            why = fmt::format("{}: {}", parent, std::strerror(errno));
            continue;
        }
        if (access((made + "/cgroup.procs").c_str(), W_OK) == 0) {
            groups_.push_back({controller, made});
            return true;
        }
        why = fmt::format("{}/cgroup.procs: {}", made, std::strerror(errno));
        if (!shared) rmdir(made.c_str());
    }
    if (!why.empty()) return false;
    const auto where = machine::find_controller(controller);
    why = where.version == 0 ? fmt::format("no {} controller is mounted here", controller)
                             : fmt::format("the {} controller is not handed down to new groups at {}",
                                           controller, where.folder());
    return false;
}

bool RunGroups::make(const std::vector<std::string>& controllers, std::string& why) {
    const size_t before = groups_.size();
    why.clear();
    for (const std::string& controller : controllers) {
        if (!folder(controller).empty() || make_one(controller, controllers, why)) continue;
        while (groups_.size() > before) {
            const std::string gone = groups_.back().folder;
            groups_.pop_back();
            if (folder_is_used(gone)) continue;
            remove_group(gone);
        }
        return false;
    }
    return true;
}

bool RunGroups::folder_is_used(const std::string& path) const {
    return std::any_of(groups_.begin(), groups_.end(),
                       [&](const Group& group) { return group.folder == path; });
}

bool RunGroups::join() const {
    for (const Group& group : groups_)
        if (!machine::write_file(group.folder + "/cgroup.procs", "0")) return false;
    return true;
}

}  // namespace strata::launch
