#include "benchmarks/integrity/idle_group.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <iterator>
#include <set>
#include <sstream>

#include "core/base/text.hpp"
#include "core/machine/cgroup.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/signal_process.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::integrity {
namespace {

constexpr const char* kPrefix = "strata-integrity-";

/// Whoever computes only where nobody else does also dies only there: for its end a group gets the weight of
/// others.
void give_weight(const std::string& path) {
    machine::write_file(path + "/cpu.idle", "0");
    for (const char* weight : {"/cpu.weight", "/cpu.shares"}) machine::write_file(path + weight, "1000");
}

std::set<pid_t> members_of(const std::string& path) {
    std::istringstream members(machine::read_file(path + "/cgroup.procs").value_or(""));
    return {std::istream_iterator<pid_t>(members), {}};
}

/// The processes of a group end, and the group with them. The kernel lets a group go only some moments after
/// its last process.
void remove_group(const std::string& path) {
    for (int attempt = 0; attempt < 100; ++attempt) {
        if (rmdir(path.c_str()) == 0 || errno == ENOENT) return;
        if (attempt == 0) give_weight(path);
        const std::set<pid_t> found = members_of(path);
        for (const pid_t pid : found)
            if (pid > 1)
                machine::signal_process(pid, SIGKILL, [&] { return members_of(path).count(pid) > 0; });
        const timespec pause{0, 10'000'000};
        nanosleep(&pause, nullptr);
    }
}

/// The name carries its owner: its number and when it began, which together name a process for ever.
std::string own_name() {
    const auto stat = machine::read_stat(getpid());
    return fmt::format("{}{}-{}", kPrefix, getpid(), stat ? stat->start_time : 0);
}

bool owner_lives(std::string_view name) {
    name.remove_prefix(std::strlen(kPrefix));
    const auto pid = take_number<int>(name);
    const auto start = take(name, "-") ? parse_number<std::uint64_t>(name) : std::nullopt;
    if (!pid || !start) return true;  // not one of ours
    const auto stat = machine::read_stat(*pid);
    return stat && stat->start_time == *start;
}

void sweep(const std::string& parent) {
    for (const std::string& name : machine::list_folder(parent))
        if (name.rfind(kPrefix, 0) == 0 && !owner_lives(name)) remove_group(parent + "/" + name);
}

}  // namespace

IdleGroup::IdleGroup(const std::string& given) {
    const auto place = machine::find_controller("cpu");
    const std::string parent = given.empty() ? place.mount : given;
    if (parent.empty()) {
        why_ = "no cpu controller is mounted";
        return;
    }
    sweep(parent);
    const bool second = access((parent + "/cgroup.subtree_control").c_str(), F_OK) == 0;
    if (second) machine::write_file(parent + "/cgroup.subtree_control", "+cpu");
    const std::string path = fmt::format("{}/{}", parent, own_name());
    if (mkdir(path.c_str(), 0755) != 0) {
        why_ = fmt::format("{}: {}", path, std::strerror(errno));
        return;
    }
    path_ = path;
    if (machine::write_file(path + "/cpu.idle", "1"))
        mode_ = "cgroup idle";
    else if (machine::write_file(path + (second ? "/cpu.weight" : "/cpu.shares"), second ? "1" : "2"))
        mode_ = "cgroup weight";
    else
        why_ = fmt::format("{} has neither cpu.idle nor a weight: {}", path, std::strerror(errno));
}

IdleGroup::~IdleGroup() {
    if (!path_.empty()) remove_group(path_);
}

void IdleGroup::hurry() const { give_weight(path_); }

bool IdleGroup::take(pid_t process) const {
    return machine::write_file(path_ + "/cgroup.procs", std::to_string(process));
}

}  // namespace strata::integrity
