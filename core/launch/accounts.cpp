#include "core/launch/accounts.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "core/machine/proc.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

double cpu_seconds(int who) {
    rusage usage{};
    getrusage(who, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// Time that tasks ran on each CPU, in nanoseconds: the root group of cgroup version 1's cpuacct, which
/// counts at every switch and tick. The columns of /proc/stat are sampled at ticks and printed in units of 10
/// ms: compared with these they were 2 to 14 ms off on two CPUs, for runs of 0.3 s as of 3 s.
std::map<int, double> exact_busy(const std::vector<int>& pus) {
    std::map<int, double> busy;
    const auto text = machine::read_file("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu");
    if (!text) return busy;
    std::istringstream in(*text);
    unsigned long long nanoseconds = 0;
    for (int cpu = 0; in >> nanoseconds; ++cpu)
        if (std::binary_search(pus.begin(), pus.end(), cpu))
            busy[cpu] = 1e-9 * static_cast<double>(nanoseconds);
    return busy;
}

}  // namespace

double children_cpu_s() { return cpu_seconds(RUSAGE_CHILDREN); }

UsageSnapshot read_usage(const std::vector<int>& pus) {
    UsageSnapshot now;
    now.cpu_pressure_us = machine::pressure_us("cpu");
    now.memory_pressure_us = machine::pressure_us("memory");
    now.io_pressure_us = machine::pressure_us("io");
    now.cpus = machine::cpu_times();
    now.cpu_busy_exact = exact_busy(pus);
    now.own_s = children_cpu_s();
    now.supervisor_s = cpu_seconds(RUSAGE_SELF);
    now.at = std::chrono::steady_clock::now();
    return now;
}

CpuUsage settle(const UsageSnapshot& before, const UsageSnapshot& after, const std::vector<int>& pus) {
    const double wall = std::chrono::duration<double>(after.at - before.at).count();
    CpuUsage account;
    account.own_s = after.own_s - before.own_s;
    account.supervisor_s = after.supervisor_s - before.supervisor_s;
    double ticks = 0, exact = 0;
    size_t exact_cpus = 0;
    for (const int pu : pus) {
        const auto a = before.cpus.find(pu), b = after.cpus.find(pu);
        if (a == before.cpus.end() || b == after.cpus.end()) continue;
        ticks += b->second.busy - a->second.busy;
        account.irq_s += b->second.irq - a->second.irq;
        account.steal_s += b->second.steal - a->second.steal;
        const auto c = before.cpu_busy_exact.find(pu), d = after.cpu_busy_exact.find(pu);
        if (c == before.cpu_busy_exact.end() || d == after.cpu_busy_exact.end()) continue;
        exact += d->second - c->second;
        ++exact_cpus;
    }
    const bool counted = exact_cpus == pus.size();
    if (counted) account.method = "cpuacct.usage_percpu";
    if (wall < kShortestRun) return account;
    const double room = wall * static_cast<double>(pus.size());
    account.others_s = std::max(0.0, (counted ? exact : ticks) - account.own_s - account.supervisor_s);
    account.others_share = *account.others_s / room;
    account.steal_share = std::max(0.0, account.steal_s) / room;
    return account;
}

}  // namespace strata::launch
