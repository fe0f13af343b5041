#include "core/machine/proc.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "core/base/text.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::machine {
namespace {

double ticks_to_seconds(std::uint64_t ticks) {
    static const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
    return static_cast<double>(ticks) / per_second;
}

/// Numbered entries of a folder: pids in /proc, tids in a task folder.
std::vector<int> numbers_in(const std::string& folder) {
    std::vector<int> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(folder.c_str()), closedir);
    if (!dir) return found;
    while (const dirent* entry = readdir(dir.get())) {
        if (const auto number = parse_number<int>(entry->d_name)) found.push_back(*number);
    }
    return found;
}

std::vector<std::uint64_t> numbers(std::string_view text) {
    std::vector<std::uint64_t> found;
    while (!text.empty())
        if (text[0] < '0' || text[0] > '9')
            text.remove_prefix(1);
        else
            found.push_back(take_number<std::uint64_t>(text).value_or(0));
    return found;
}

/// Without CONFIG_PROC_CHILDREN the tree is put together from everybody's parent.
std::multimap<int, int> children_by_parent() {
    std::multimap<int, int> children;
    for (const int pid : all_processes())
        if (const auto stat = read_stat(pid)) children.emplace(stat->parent, pid);
    return children;
}

bool kernel_lists_children() {
    const std::string pid = std::to_string(getpid());
    return access(("/proc/" + pid + "/task/" + pid + "/children").c_str(), R_OK) == 0;
}

}  // namespace

std::optional<ProcessStat> read_stat(const std::string& folder) {
    const auto text = machine::read_file(folder + "/stat");
    if (!text) return std::nullopt;
    // The name stands in parentheses and may itself hold any character: what follows starts at the last one.
    const size_t open_at = text->find('('), close_at = text->rfind(')');
    if (open_at == std::string::npos || close_at == std::string::npos || close_at + 2 >= text->size())
        return std::nullopt;
    ProcessStat stat;
    stat.name = text->substr(open_at + 1, close_at - open_at - 1);
    stat.state = (*text)[close_at + 2];
    const char* at = text->c_str() + close_at + 3;
    std::uint64_t cpu = 0;
    for (int column = 4; column <= 39 && *at != '\0'; ++column) {  // numbered as in proc(5)
        char* end = nullptr;
        const auto value = static_cast<std::uint64_t>(std::strtoll(at, &end, 10));
        if (end == at) break;
        at = end;
        if (column == 4) stat.parent = static_cast<int>(value);
        if (column == 14 || column == 15) cpu += value;
        if (column == 22) stat.start_time = value;
        if (column == 39) stat.last_cpu = static_cast<int>(value);
    }
    stat.cpu_s = ticks_to_seconds(cpu);
    return stat;
}

std::optional<ProcessStat> read_stat(int pid) { return read_stat("/proc/" + std::to_string(pid)); }

std::string_view field(std::string_view status, std::string_view key) {
    for (size_t at = 0; at < status.size();) {
        const size_t end = std::min(status.find('\n', at), status.size());
        const std::string_view line = status.substr(at, end - at);
        if (line.size() > key.size() && line.substr(0, key.size()) == key && line[key.size()] == ':') {
            const size_t value = line.find_first_not_of(" \t", key.size() + 1);
            return value == std::string_view::npos ? std::string_view() : line.substr(value);
        }
        at = end + 1;
    }
    return {};
}

std::vector<int> all_processes() { return numbers_in("/proc"); }

bool is_own(int pid) {
    struct stat about {};
    return stat(("/proc/" + std::to_string(pid)).c_str(), &about) == 0 && about.st_uid == geteuid();
}

std::vector<int> threads_of(int pid) { return numbers_in("/proc/" + std::to_string(pid) + "/task"); }

std::vector<int> children_of(int pid) {
    std::vector<int> found;
    const std::string task = "/proc/" + std::to_string(pid) + "/task/";
    for (const int tid : numbers_in(task))
        if (const auto text = machine::read_file(task + std::to_string(tid) + "/children"))
            for (const auto child : numbers(*text)) found.push_back(static_cast<int>(child));
    return found;
}

std::vector<int> descendants_of(int root) {
    std::vector<int> found;
    if (kernel_lists_children()) {
        found = children_of(root);
        for (size_t i = 0; i < found.size(); ++i) {
            const auto below = children_of(found[i]);
            found.insert(found.end(), below.begin(), below.end());
        }
        return found;
    }
    const auto children = children_by_parent();
    for (size_t i = 0; i <= found.size(); ++i) {
        const auto [first, last] = children.equal_range(i == 0 ? root : found[i - 1]);
        for (auto it = first; it != last; ++it) found.push_back(it->second);
    }
    return found;
}

std::optional<std::string> environment_of(int pid, std::string_view name) {
    constexpr std::size_t most = 16U << 20U;  // execve(2) takes less
    const auto text = machine::read_file("/proc/" + std::to_string(pid) + "/environ", most);
    if (!text) return std::nullopt;
    for (size_t at = 0; at < text->size();) {
        const size_t end = std::min(text->find('\0', at), text->size());
        if (end - at > name.size() && text->compare(at, name.size(), name) == 0 &&
            (*text)[at + name.size()] == '=')
            return text->substr(at + name.size() + 1, end - at - name.size() - 1);
        at = end + 1;
    }
    return std::nullopt;
}

std::map<int, CpuTimes> cpu_times() {
    std::map<int, CpuTimes> all;
    const auto text = machine::read_file("/proc/stat");
    if (!text) return all;
    for (size_t at = 0; at < text->size();) {
        const size_t end = std::min(text->find('\n', at), text->size());
        const std::string_view line(text->data() + at, end - at);
        at = end + 1;
        if (line.substr(0, 3) != "cpu" || line.size() < 4 || line[3] == ' ') continue;
        // cpuN user nice system idle iowait irq softirq steal ...
        const auto n = numbers(line);
        if (n.size() < 9) continue;
        CpuTimes& times = all[static_cast<int>(n[0])];
        times.busy = ticks_to_seconds(n[1] + n[2] + n[3] + n[6] + n[7]);
        times.irq = ticks_to_seconds(n[6] + n[7]);
        times.steal = ticks_to_seconds(n[8]);
    }
    return all;
}

std::optional<std::int64_t> pressure_us(const char* name) {
    const auto text = machine::read_file(std::string("/proc/pressure/") + name);
    if (!text) return std::nullopt;
    const size_t at = text->find("total=");
    if (at == std::string::npos) return std::nullopt;
    return std::strtoll(text->c_str() + at + 6, nullptr, 10);
}

}  // namespace strata::machine
