#include "core/launch/own_share.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

constexpr long kMostWeight = 10000;   // cgroup v2: 1..10000, default 100
constexpr long kMostShares = 262144;  // cgroup v1: 2..262144, default 1024

bool autogroups_on() {
    const auto on = machine::read_file("/proc/sys/kernel/sched_autogroup_enabled");
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

bool in_root_cpu_group(const std::string& root) {
    const machine::ControllerPath where = machine::find_controller("cpu", root);
    if (where.version != 2) return where.version == 0 || where.path == "/";
    // Only the root has no cpu.weight; without the controller, a group's processes count as its nearest
    // ancestor's.
    for (std::string path = where.path; path.size() > 1; path = path.substr(0, path.rfind('/')))
        if (access((where.mount + path + "/cpu.weight").c_str(), F_OK) == 0) return false;
    return true;
}

OwnShare::OwnShare(bool asked, RunGroups& groups) {
    const bool sessions_count = autogroups_on() && in_root_cpu_group();
    if (sessions_count) share_ = {"session-autogroup", 0, ""};
    if (!asked) return;
    if (make_group(groups)) return;
    const long nice = best_nice();
    if (sessions_count && nice < 0) {
        share_ = {"autogroup-nice", nice, "no cpu cgroup can be made here"};
        return;
    }
    share_.why = sessions_count ? "no cpu cgroup can be made here, and this user may not lower a nice value"
                                : "no cpu cgroup can be made here, and sessions are not groups of their own";
}

bool OwnShare::make_group(RunGroups& groups) {
    std::string ignored;
    if (!groups.make({"cpu"}, ignored)) return false;
    const bool two = machine::find_controller("cpu").version == 2;
    const long value = two ? kMostWeight : kMostShares;
    if (!machine::write_file(groups.folder("cpu") + (two ? "/cpu.weight" : "/cpu.shares"),
                             std::to_string(value)))
        return false;
    share_ = {two ? "cgroup2-weight" : "cgroup1-shares", value, ""};
    take_in(groups);
    return true;
}

void OwnShare::take_in(const RunGroups& groups) {
    const std::string run = groups.folder("cpu");
    // The run's limits are for the program alone.
    for (const char* limit : {"memory", "cpuset"})
        if (groups.folder(limit) == run) return;
    const std::string own = machine::find_controller("cpu").folder();
    if (machine::write_file(run + "/cgroup.procs", "0")) came_from_ = own;
}

OwnShare::~OwnShare() {
    if (!came_from_.empty()) machine::write_file(came_from_ + "/cgroup.procs", "0");
}

void OwnShare::join() const {
    if (share_.method == "autogroup-nice")
        machine::write_file("/proc/self/autogroup", std::to_string(share_.value));
}

}  // namespace strata::launch
