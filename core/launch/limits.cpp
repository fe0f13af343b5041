#include "core/launch/limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/limits.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

constexpr const char* kHowToBeGranted =
    "as a user of systemd: systemd-run --user --scope -p Delegate=yes strata launch ...; in a batch job: ask "
    "for the memory and whole cores there; as root in a container: mount its cgroups writable";

/// "oom_kill 1" of memory.events or memory.oom_control.
std::uint64_t count_in(const std::string& path, const std::string& key) {
    std::istringstream words(machine::read_file(path).value_or(""));
    std::string name;
    for (std::uint64_t count = 0; words >> name >> count;)
        if (name == key) return count;
    return 0;
}

std::optional<std::uint64_t> bytes_in(const std::string& path) {
    const auto number = machine::read_number(path);
    if (!number || *number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::string memories_text(const std::vector<int>& memories) {
    return fmt::format("{} P#{}", memories.size() == 1 ? "memory" : "memories", print_cpulist(memories));
}

/// The size of the memories together, by the kernel's own account of each.
std::optional<std::uint64_t> size_of(const std::vector<int>& memories) {
    std::uint64_t sum = 0;
    for (const int node : memories) {
        const auto info = machine::read_file(fmt::format("/sys/devices/system/node/node{}/meminfo", node));
        const size_t at = info ? info->find("MemTotal:") : std::string::npos;
        if (at == std::string::npos) return std::nullopt;
        sum += std::strtoull(info->c_str() + at + 9, nullptr, 10) * 1024;
    }
    return sum;
}

}  // namespace

Enforcement::Enforcement(const Limits& limits, RunGroups& groups) : limits_(limits) {
    if (!limits_.any()) return;
    std::string why;
    if (limits_.exclusive && limits_.memory_bytes) (void)groups.make({"cpuset", "memory"}, why);
    if (limits_.exclusive) hold_processors(groups);
    if (limits_.memory_bytes) {
        hold_memory_limit(groups);
    } else {
        // Only to learn from its events what the kernel killed; where it is not granted, nothing is lost.
        if (groups.make({"memory"}, why)) memory_folder_ = groups.folder("memory");
    }
    memory_version_ = machine::find_controller("memory").version;
}

void Enforcement::hold_processors(RunGroups& groups) {
    const std::string pus = print_cpulist(limits_.pus);
    const auto refuse = [&](const std::string& what, const std::string& tried) {
        throw Error(what, kFailure)
            .given(fmt::format("--exclusive on PU {}: {}", pus, tried))
            .allowed("PUs that no other exclusive cpuset holds, and the right to make a cpuset")
            .remedy(what.rfind("another", 0) == 0 ? "--bind LIST names other PUs; or wait for that run to end"
                                                  : kHowToBeGranted);
    };
    std::string why;
    if (!groups.make({"cpuset"}, why)) refuse("an exclusive cpuset is not permitted here", why);
    const std::string folder = groups.folder("cpuset");
    const int version = machine::find_controller("cpuset").version;
    std::string mems = print_cpulist(limits_.memories);
    // Version 1 starts with none and takes no process until it has some; version 2 starts with its parent's.
    if (mems.empty() && version == 1) mems = print_cpulist(machine::own_memories());
    const auto set = [&](const char* file, const std::string& value) {
        if (value.empty() || machine::write_file(folder + "/" + file, value)) return;
        // Refused so by both versions when a sibling is exclusive.
        const bool taken = errno == EINVAL || errno == EBUSY;
        refuse(taken ? "another cpuset holds some of these processors" : "the cpuset cannot be set",
               fmt::format("{} = {}: {}", file, value, std::strerror(errno)));
    };
    set("cpuset.mems", mems);
    set("cpuset.cpus", pus);
    if (version == 1) {
        if (!machine::write_file(folder + "/cpuset.cpu_exclusive", "1"))
            refuse("another cpuset holds some of these processors", std::strerror(errno));
        lines_.push_back(fmt::format(
            "exclusive: cpuset (cgroup version 1) on PU {}: no other cpuset may take them; processes outside "
            "any cpuset are not moved away, as version 1 cannot do that",
            pus));
    } else {
        // The PUs leave the parent's set: nothing else runs on them (cgroup-v2.rst, cpuset.cpus.partition).
        if (!machine::write_file(folder + "/cpuset.cpus.partition", "root"))
            refuse("these processors cannot be taken from the rest", std::strerror(errno));
        const std::string state = machine::read_file(folder + "/cpuset.cpus.partition").value_or("");
        if (state != "root")
            refuse("these processors cannot be taken from the rest", "the kernel says: " + state);
        lines_.push_back(fmt::format(
            "exclusive: cpuset partition (cgroup version 2) on PU {}: nothing else runs there", pus));
    }
    if (!limits_.memories.empty())
        lines_.push_back("memories: " + memories_text(limits_.memories) + " alone");
}

void Enforcement::hold_memory_limit(RunGroups& groups) {
    const std::uint64_t bytes = *limits_.memory_bytes;
    const auto refuse = [&](const std::string& tried) {
        throw Error("a memory limit is not permitted here", kFailure)
            .given(fmt::format("--memory-limit {}: {}", print_size(bytes), tried))
            .allowed("the right to make a memory control group")
            .remedy(kHowToBeGranted);
    };
    std::string why;
    if (!groups.make({"memory"}, why)) refuse(why);
    memory_folder_ = groups.folder("memory");
    const bool two = machine::find_controller("memory").version == 2;
    const std::string value = std::to_string(bytes);
    const char* file = two ? "/memory.max" : "/memory.limit_in_bytes";
    if (!machine::write_file(memory_folder_ + file, value))
        refuse(fmt::format("{} = {}: {}", file + 1, value, std::strerror(errno)));
    // Without these a program would go on, slowly, in swap; kernels without swap accounting lack the files.
    machine::write_file(memory_folder_ + (two ? "/memory.swap.max" : "/memory.memsw.limit_in_bytes"),
                        two ? "0" : value);
    // All processes of the run end together, not the one that happened to be largest.
    if (two) machine::write_file(memory_folder_ + "/memory.oom.group", "1");
    lines_.push_back(fmt::format("memory limit: {} for all processes together (cgroup version {})",
                                 print_size(bytes), two ? 2 : 1));
}

std::uint64_t Enforcement::kills() const {
    return count_in(memory_folder_ + (memory_version_ == 2 ? "/memory.events" : "/memory.oom_control"),
                    "oom_kill");
}

bool Enforcement::limit_was_reached() const {
    if (!limits_.memory_bytes) return false;
    if (memory_version_ == 2) return count_in(memory_folder_ + "/memory.events", "oom") > 0;
    // Version 1 counts refusals, but not in every kernel (6.18 leaves 0 when the kernel then kills): the peak
    // tells, which stays a few pages below the limit.
    constexpr double kNearly = 0.99;
    return bytes_in(memory_folder_ + "/memory.failcnt").value_or(0) > 0 ||
           static_cast<double>(peak_bytes().value_or(0)) >=
               kNearly * static_cast<double>(*limits_.memory_bytes);
}

std::optional<std::uint64_t> Enforcement::peak_bytes() const {
    return bytes_in(memory_folder_ + (memory_version_ == 2 ? "/memory.peak" : "/memory.max_usage_in_bytes"));
}

std::optional<std::string> Enforcement::exceeded() const {
    if (memory_folder_.empty() || kills() == 0) return std::nullopt;
    const auto peak = peak_bytes();
    const std::string had = peak ? fmt::format("{} in use at most", print_size(*peak)) : "all of it in use";
    if (limit_was_reached())
        return Error("the program needed more memory than its limit, and the kernel ended it")
            .given(fmt::format("--memory-limit {}: {} ({})", print_size(*limits_.memory_bytes), had,
                               memory_folder_))
            .allowed("the limit is for all processes of the run together, with their files in memory")
            .remedy("a larger --memory-limit, a smaller case, or fewer processes")
            .text();
    if (!limits_.memories.empty()) {
        const auto size = size_of(limits_.memories);
        return Error("the memories that the program was held to were full, and the kernel ended it")
            .given(fmt::format("{}{}: {}", memories_text(limits_.memories),
                               size ? fmt::format(", {} in all", print_size(*size)) : "", had))
            .allowed("pages from these memories alone (--memory)")
            .remedy("more memories in --memory bind:LIST, --memory first-touch, or a smaller case")
            .text();
    }
    return Error("the machine ran out of memory, and the kernel ended the program")
        .given(had)
        .allowed("what the machine, or the control group around this run, has")
        .remedy("a smaller case, fewer processes, or more memory from the batch system")
        .text();
}

}  // namespace strata::launch
