#include "core/launch/readback.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/machine/numa_maps.hpp"
#include "core/machine/proc.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

using Clock = std::chrono::steady_clock;

/// A thread computes, for the judgement, when it used at least this share of what the busiest thread of the
/// run used, and at least two ticks of a 100 Hz clock.
constexpr double kSubstantialShare = 0.25, kSubstantialSeconds = 0.02;
constexpr double kComputedSeconds = 0.005;  // between two readings

/// Libraries of at most this many processes are named: ranks of one program have the same.
constexpr size_t kProcessesForLibraries = 8;

bool subset(const std::vector<int>& inner, const std::vector<int>& outer) {
    return std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

std::string list_of_tids(const std::vector<const ThreadReading*>& threads) {
    std::string text;
    for (const ThreadReading* t : threads) text += fmt::format("{}tid {}", text.empty() ? "" : ", ", t->tid);
    return text;
}

long long value_after(const std::string& text, const char* key) {
    const size_t at = text.find(key);
    if (at == std::string::npos) return -1;
    const size_t digits = text.find_first_of("0123456789", at + std::string_view(key).size());
    return digits == std::string::npos ? -1 : std::strtoll(text.c_str() + digits, nullptr, 10);
}

}  // namespace

bool is_worth_naming(const std::string& path) {
    constexpr std::array kStems = {
        "blas",        "lapack",  "libmkl", "libblis", "libflexiblas", "libatlas", "libmpi",  "libmpich",
        "libopen-pal", "libgomp", "libomp", "libiomp", "libfftw",      "libarmpl", "libnvpl", "libaocl"};
    const std::string file = path.substr(path.rfind('/') + 1);
    if (file.find(".so") == std::string::npos) return false;
    return std::any_of(kStems.begin(), kStems.end(),
                       [&](const char* stem) { return file.find(stem) != std::string::npos; });
}

std::optional<std::string> find_disagreement(const std::vector<ThreadReading>& threads,
                                             const Placement& promised) {
    double most = 0;
    for (const ThreadReading& t : threads) most = std::max(most, t.cpu_s);
    const double limit = std::max(kSubstantialSeconds, kSubstantialShare * most);
    std::map<int, std::vector<const ThreadReading*>> alone_on;
    for (const ThreadReading& t : threads) {
        if (t.cpu_s < limit) continue;
        if (t.allowed.size() == 1) alone_on[t.allowed.front()].push_back(&t);
        if (promised.layout.bind == Bind::none || !t.rank) continue;
        const int index = t.index >= 0 ? t.index : *t.rank;
        if (index < 0 || index >= static_cast<int>(promised.threads.size())) continue;
        const std::vector<int> own = promised.pus(index);
        if (!subset(t.allowed, own))
            return fmt::format("tid {} of process {} may run on PU {}, promised was PU {}", t.tid, *t.rank,
                               print_cpulist(t.allowed), print_cpulist(own));
    }
    for (const auto& [pu, sharing] : alone_on) {
        if (sharing.size() < 2) continue;
        return fmt::format("{} threads on PU {}: {}",
                           sharing.size() == 2 ? "two" : std::to_string(sharing.size()), pu,
                           list_of_tids(sharing));
    }
    return std::nullopt;
}

void ConcurrentThreads::read(const std::vector<ThreadReading>& now) {
    std::map<Id, double> cpu_s, gained;
    double largest = 0;
    for (const ThreadReading& t : now) {
        const Id id(t.pid, t.tid);
        const auto before = cpu_s_.find(id);
        cpu_s[id] = t.cpu_s;
        gained[id] = t.cpu_s - (before == cpu_s_.end() ? 0.0 : before->second);
        largest = std::max(largest, gained[id]);
    }
    const double limit = std::max(kComputedSeconds, kSubstantialShare * largest);
    std::set<Id> computed;
    int again = 0;
    for (const auto& [id, seconds] : gained) {
        if (seconds < limit) continue;
        computed.insert(id);
        again += computed_.count(id) != 0 ? 1 : 0;
    }
    most_ = std::max(most_, again);
    cpu_s_ = std::move(cpu_s);
    computed_ = std::move(computed);
}

Readback::Readback(Placement promised, std::string launcher, std::string mark)
    : promised_(std::move(promised)),
      launcher_(std::move(launcher)),
      mark_(std::move(mark)),
      pages_(promised_) {}

std::vector<RankedProcess> Readback::program_processes() {
    std::vector<RankedProcess> found;
    for (const int pid : mark_.empty() ? machine::descendants_of(getpid()) : machine::all_processes()) {
        const auto stat = machine::read_stat(pid);
        if (!stat || stat->state == 'Z') continue;
        const std::pair key(pid, stat->start_time);
        if (const auto known = known_.find(key); known != known_.end()) {
            found.push_back(known->second);
            continue;
        }
        // Root could read the environments of other users' processes, which may say anything.
        if (!mark_.empty() && (!machine::is_own(pid) || machine::environment_of(pid, "STRATA_RUN") != mark_))
            continue;
        // Before a rank has become the program it is this launcher, or mpirun: neither carries the mark.
        const auto rank = machine::environment_of(pid, "STRATA_RANK");
        if (!rank) continue;
        char exe[4096];
        const ssize_t n = readlink(("/proc/" + std::to_string(pid) + "/exe").c_str(), exe, sizeof exe);
        if (n > 0 && std::string_view(exe, static_cast<size_t>(n)) == launcher_) continue;
        RankedProcess process{pid, std::atoi(rank->c_str()), std::atoi(rank->c_str())};
        // Each node lays out the ranks that it has.
        if (const auto local = mark_.empty() ? std::nullopt : machine::environment_of(pid, "SLURM_LOCALID"))
            process.index = std::atoi(local->c_str());
        known_[key] = process;
        found.push_back(process);
    }
    return found;
}

void Readback::read_threads(const RankedProcess& process, std::vector<ThreadReading>& now) {
    const std::string tasks = "/proc/" + std::to_string(process.pid) + "/task/";
    for (const int tid : machine::threads_of(process.pid)) {
        if (now.size() >= kMostThreads) return;
        const std::string folder = tasks + std::to_string(tid);
        const auto stat = machine::read_stat(folder);
        const auto status = machine::read_file(folder + "/status");
        if (!stat || !status || stat->state == 'Z') continue;
        ThreadReading t{process.pid,    tid,         process.rank, stat->name,   {},
                        stat->last_cpu, stat->cpu_s, std::nullopt, process.index};
        t.allowed = parse_cpulist(machine::field(*status, "Cpus_allowed_list"));
        // Nanoseconds on a CPU, where the kernel says so; ticks of 10 ms else.
        if (const auto schedstat = machine::read_file(folder + "/schedstat"))
            t.cpu_s = 1e-9 * std::strtod(schedstat->c_str(), nullptr);
        if (const auto sched = machine::read_file(folder + "/sched"))
            if (const long long n = value_after(*sched, "se.nr_migrations"); n >= 0) t.migrations = n;
        now.push_back(std::move(t));
    }
}

void Readback::read(double elapsed_s) {
    const std::vector<RankedProcess> processes = program_processes();
    if (processes.empty()) return;
    const bool confirming = in_doubt();
    std::vector<ThreadReading> now;
    for (const RankedProcess& process : processes) read_threads(process, now);
    judge(now, elapsed_s);
    if (!confirming) at_once_.read(now);
    for (ThreadReading& t : now)
        if (const std::pair key(t.pid, t.tid); seen_.size() < kMostThreads || seen_.count(key) != 0)
            seen_[key] = std::move(t);
    if (confirming) return;
    ++readings_;
    // Libraries are loaded early and opened late (a BLAS chosen at run time): the first readings, then now
    // and then.
    if (readings_ <= 3 || readings_ % 8 == 0) read_libraries(processes);
    pages_.read(processes, elapsed_s);
}

void Readback::judge(const std::vector<ThreadReading>& now, double elapsed_s) {
    auto found = find_disagreement(now, promised_);
    if (!found || found != doubt_) {
        doubt_looks_ = 0;
        doubted_since_ = elapsed_s;
    }
    if (found) ++doubt_looks_;
    doubt_ = std::move(found);
    doubt_lasted_ = doubt_ ? elapsed_s - doubted_since_ : 0;
    if (doubt_lasted_ >= kConfirmed) disagreement_ = doubt_;
}

void Readback::read_libraries(const std::vector<RankedProcess>& processes) {
    for (size_t i = 0; i < std::min(processes.size(), kProcessesForLibraries); ++i) {
        const auto maps = machine::read_file("/proc/" + std::to_string(processes[i].pid) + "/maps");
        if (!maps) continue;
        std::istringstream lines(*maps);
        for (std::string line; std::getline(lines, line);) {
            const size_t slash = line.find('/');
            if (slash != std::string::npos && is_worth_naming(line.substr(slash)))
                libraries_.insert(line.substr(slash));
        }
    }
}

std::vector<ThreadReading> Readback::threads() const {
    std::vector<ThreadReading> all;
    for (const auto& [key, thread] : seen_) all.push_back(thread);
    return all;
}

std::optional<long> Readback::migrations() const {
    std::optional<long> sum;
    for (const auto& [key, thread] : seen_)
        if (thread.migrations) sum = sum.value_or(0) + *thread.migrations;
    return sum;
}

}  // namespace strata::launch
