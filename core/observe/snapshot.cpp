#include "core/observe/snapshot.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "core/base/cpulist.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::observe {
namespace {

std::string folder_of(int pid) { return "/proc/" + std::to_string(pid); }

/// "se.nr_migrations    :    12" of /proc/PID/task/TID/sched, where CONFIG_SCHED_DEBUG has it.
std::optional<long> migrations_in(const std::string& folder) {
    const auto text = machine::read_file(folder + "/sched");
    const size_t at = text ? text->find("se.nr_migrations") : std::string::npos;
    const size_t digits = at == std::string::npos ? at : text->find_first_of("0123456789", at + 16);
    if (digits == std::string::npos) return std::nullopt;
    return std::strtol(text->c_str() + digits, nullptr, 10);
}

std::vector<std::string> words_of(const std::string& folder) {
    std::vector<std::string> words;
    constexpr std::size_t most = 1U << 20U;
    const std::string text = machine::read_file(folder + "/cmdline", most).value_or("");
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\0', at), text.size());
        words.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

std::string program_of(const std::string& folder) {
    char path[PATH_MAX];
    const ssize_t n = readlink((folder + "/exe").c_str(), path, sizeof path);
    return n > 0 ? std::string(path, static_cast<size_t>(n)) : "";
}

std::optional<int> rank_of(int pid) {
    for (const char* name : {"STRATA_RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
        if (const auto rank = machine::environment_of(pid, name)) return std::atoi(rank->c_str());
    return std::nullopt;
}

void read_pages(Process& process, const std::string& folder, Method method, std::uint64_t most_pages) {
    const auto maps = machine::read_file(folder + "/maps");
    if (!maps) {
        process.why = std::strerror(errno);
        return;
    }
    if (method == Method::numa_maps) {
        if (const auto text = machine::read_file(folder + "/numa_maps")) {
            process.regions = machine::read_numa_maps(*text, *maps, process.program);
            process.pages_read = true;
            return;
        }
        // A kernel without NUMA has no such file; move_pages still works.
    }
    process.regions = machine::read_maps(*maps, process.program);
    if (const auto share = machine::ask_pages(process.pid, process.regions, most_pages)) {
        process.share_read = *share;
        process.pages_read = true;
    } else {
        process.why = std::string("move_pages: ") + std::strerror(errno);
    }
}

}  // namespace

double Process::cpu_s() const {
    double sum = 0;
    for (const Thread& thread : threads) sum += thread.cpu_s;
    return sum;
}

std::optional<Thread> read_thread(int pid, int tid) {
    const std::string folder = folder_of(pid) + "/task/" + std::to_string(tid);
    const auto stat = machine::read_stat(folder);
    const auto status = machine::read_file(folder + "/status");
    if (!stat || !status || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
    Thread thread;
    thread.tid = tid;
    thread.name = stat->name;
    thread.allowed = parse_cpulist(machine::field(*status, "Cpus_allowed_list"));
    thread.cpu = stat->last_cpu;
    thread.cpu_s = stat->cpu_s;
    // Nanoseconds on a CPU, where the kernel counts them; else ticks of 10 ms.
    if (const auto schedstat = machine::read_file(folder + "/schedstat"))
        thread.cpu_s = 1e-9 * std::strtod(schedstat->c_str(), nullptr);
    thread.migrations = migrations_in(folder);
    thread.voluntary = std::atol(std::string(machine::field(*status, "voluntary_ctxt_switches")).c_str());
    thread.involuntary =
        std::atol(std::string(machine::field(*status, "nonvoluntary_ctxt_switches")).c_str());
    return thread;
}

std::optional<Process> read_process(int pid, Method method, std::uint64_t most_pages) {
    const std::string folder = folder_of(pid);
    const auto stat = machine::read_stat(pid);
    if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
    Process process;
    process.pid = pid;
    process.parent = stat->parent;
    process.command = words_of(folder);
    process.rank = rank_of(pid);
    for (const int tid : machine::threads_of(pid))
        if (auto thread = read_thread(pid, tid)) process.threads.push_back(std::move(*thread));
    std::sort(process.threads.begin(), process.threads.end(), [](auto& a, auto& b) { return a.tid < b.tid; });
    process.program = program_of(folder);
    if (process.program.empty()) {
        // A kernel thread has no program; that of another user's process cannot be read.
        if (errno != ENOENT) process.why = std::strerror(errno);
        process.program = stat->name;
    } else {
        read_pages(process, folder, method, most_pages);
    }
    if (process.threads.empty()) return std::nullopt;
    return process;
}

bool is_launcher(const Process& process) {
    constexpr std::array kNames = {
        "orterun", "orted",  "prterun", "prted", "mpirun", "mpiexec", "mpiexec.hydra", "hydra_pmi_proxy",
        "srun",    "strata", "sh",      "bash",  "dash",   "busybox", "env",           "timeout"};
    const std::string name = process.program.substr(process.program.rfind('/') + 1);
    return std::any_of(kNames.begin(), kNames.end(), [&](const char* known) { return name == known; });
}

void keep_threads(Process& newer, const Process& older) {
    for (const Thread& thread : older.threads) {
        const bool there = std::any_of(newer.threads.begin(), newer.threads.end(),
                                       [&](const Thread& other) { return other.tid == thread.tid; });
        if (!there) newer.threads.push_back(thread);
    }
}

}  // namespace strata::observe
