// Reading /proc: processes, their threads, and what the system says of its CPUs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::machine {

/// What matters here of /proc/PID/stat and /proc/PID/task/TID/stat (proc(5)).
struct ProcessStat {
    std::string name;
    char state = '?';
    int parent = 0;
    double cpu_s = 0;              // user and system
    std::uint64_t start_time = 0;  // in ticks since boot: with the pid it names a process for ever
    int last_cpu = -1;
};
std::optional<ProcessStat> read_stat(const std::string& folder);
std::optional<ProcessStat> read_stat(int pid);

/// The value of a "Key:\tvalue" line as in /proc/PID/status; "" when there is none.
std::string_view field(std::string_view status, std::string_view key);

std::vector<int> threads_of(int pid);
std::vector<int> children_of(int pid);
/// All processes below `root`, parents before children; `root` itself is left out.
std::vector<int> descendants_of(int root);
/// All processes of the system.
std::vector<int> all_processes();
/// Whether it runs as this user.
bool is_own(int pid);

/// A variable of the environment that a process was started with.
std::optional<std::string> environment_of(int pid, std::string_view name);

/// Seconds since boot that one CPU spent, from /proc/stat.
struct CpuTimes {
    double busy = 0;   // user, nice, system, irq, softirq
    double irq = 0;    // irq and softirq, part of busy
    double steal = 0;  // taken by the hypervisor
};
std::map<int, CpuTimes> cpu_times();

/// "some" of /proc/pressure/NAME in microseconds since boot.
std::optional<std::int64_t> pressure_us(const char* name);

}  // namespace strata::machine
