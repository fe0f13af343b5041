// A plan in words and tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/json.hpp"
#include "core/base/units.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/launch.hpp"
#include "core/launch/likwid.hpp"
#include "core/launch/page_readback.hpp"

namespace strata::launch {
namespace {

std::string kind_text(const Plan& plan) {
    const Target& target = plan.target;
    const int processes = plan.placement.layout.processes;
    switch (target.kind) {
        case ProgramKind::mpi:
            return fmt::format("{}, started with {} ({})", to_text(target.mpirun->mpi), target.mpirun->path,
                               target.mpirun->why);
        case ProgramKind::launcher_command:
            return fmt::format("{}, whose ranks take their places themselves",
                               to_text(target.launcher->kind));
        case ProgramKind::team:
            return fmt::format("once: it starts its {} of a team itself",
                               processes == 1 ? "one member" : fmt::format("{} members", processes));
        case ProgramKind::rank:
            if (target.rank->size > 1)
                return fmt::format("rank {} of {}", target.rank->rank, target.rank->size);
            break;
        case ProgramKind::plain:
            if (processes > 1) return fmt::format("{} copies", processes);
            break;
    }
    return "this process becomes the program";
}

std::string shell_words(const std::vector<std::string>& words) {
    constexpr const char* kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
    std::string line;
    for (const std::string& word : words) {
        if (!line.empty()) line += ' ';
        if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) {
            line += word;
            continue;
        }
        line += '\'';
        for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
        line += '\'';
    }
    return line;
}

std::string version_of(const std::string& mpirun) {
    const std::string ask = shell_words({mpirun, "--version"}) + " 2>/dev/null";
    char line[256] = "";
    if (FILE* said = popen(ask.c_str(), "r")) {
        if (std::fgets(line, sizeof line, said) == nullptr) line[0] = '\0';
        pclose(said);
    }
    return line;
}

/// The numbers of the objects that enclose some PUs, as a list; "-" for none.
struct Enclosing {
    std::string cores, domains, packages;
};

Enclosing enclosing(const machine::Machine& machine, const std::vector<int>& pus) {
    std::vector<int> cores, domains, packages;
    for (const machine::Core& core : machine.cores) {
        const bool used = std::any_of(core.pus.begin(), core.pus.end(),
                                      [&](int pu) { return std::binary_search(pus.begin(), pus.end(), pu); });
        if (!used) continue;
        cores.push_back(core.index);
        domains.push_back(core.domain);
        packages.push_back(core.package);
    }
    const auto list = [](std::vector<int>& numbers) {
        std::sort(numbers.begin(), numbers.end());
        numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
        return numbers.empty() ? std::string("-") : print_cpulist(numbers);
    };
    return {list(cores), list(domains), list(packages)};
}

/// One row a thread; neighbouring threads with the same PUs share a row.
std::string table_of(const Plan& plan) {
    std::string text = fmt::format("{:>8} {:>8} {:>12} {:>12} {:>8} {:>8}  {}\n", "process", "thread", "PU",
                                   "core", "domain", "package", "memory");
    for (size_t p = 0; p < plan.placement.threads.size(); ++p) {
        const auto& threads = plan.placement.threads[p];
        for (size_t first = 0, next = 0; first < threads.size(); first = next) {
            for (next = first + 1; next < threads.size() && threads[next] == threads[first];) ++next;
            const std::string which =
                next - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, next - 1);
            const Enclosing in = enclosing(plan.machine, threads[first]);
            text += fmt::format("{:>8} {:>8} {:>12} {:>12} {:>8} {:>8}  {}\n", p, which,
                                print_cpulist(threads[first]), in.cores, in.domains, in.packages,
                                to_text(plan.placement.memory_of(static_cast<int>(p))));
        }
    }
    return text;
}

/// For likwid-pin, or for likwid-mpirun with several processes: each thread on one PU, in the order of
/// threads.
std::string for_likwid(const Plan& plan) {
    std::vector<std::string> processes;
    for (const auto& threads : plan.placement.threads) {
        std::vector<int> pus;
        for (const auto& thread : threads) {
            if (thread.size() != 1)
                return "  likwid   nothing: it holds a thread on one PU, not within several (--bind core, or "
                       "a list)\n";
            pus.push_back(thread.front());
        }
        processes.push_back(likwid_list(plan.machine, pus));
    }
    constexpr const char* without = "without OMP_PLACES and OMP_PROC_BIND";
    if (processes.size() == 1)
        return fmt::format("  likwid   likwid-pin -c {}  ({})\n", processes.front(), without);
    return fmt::format("  likwid   likwid-mpirun -np {} -pin {}  ({})\n", processes.size(),
                       fmt::join(processes, "_"), without);
}

/// The first line of `by_hand`, with what OpenMP has to be told beside a process' mask. OMP_PLACES=threads
/// makes a place of each PU of the mask, in ascending order: right where each thread has one PU. Processes
/// whose masks are the same would put their threads onto the same PUs by it.
std::string openmp_by_hand(const Placement& placement) {
    bool one_each = true, all_of_mask = true;
    for (const auto& threads : placement.threads)
        for (size_t t = 0; t < threads.size(); ++t) {
            one_each = one_each && threads[t].size() == 1 && (t == 0 || threads[t - 1] < threads[t]);
            all_of_mask = all_of_mask && threads[t] == threads.front();
        }
    const std::string begin =
        fmt::format("by hand (numbers are the system's; OMP_NUM_THREADS={}", placement.layout.threads);
    if (one_each) return begin + " OMP_PLACES=threads OMP_PROC_BIND=close beside it):\n";
    if (all_of_mask) return begin + " OMP_PROC_BIND=false beside it, OMP_PLACES unset):\n";
    if (placement.threads.size() == 1)
        return begin + fmt::format(" OMP_PLACES='{}' OMP_PROC_BIND=close beside it):\n",
                                   omp_places(placement.threads.front()));
    std::string text = begin + " OMP_PROC_BIND=close beside it, and for each rank its own):\n";
    for (size_t p = 0; p < placement.threads.size(); ++p)
        text += fmt::format("  OpenMP   rank {}: OMP_PLACES='{}'\n", p, omp_places(placement.threads[p]));
    return text;
}

/// The same placement in the words of other launchers, for places where Strata is not.
std::string by_hand(const Plan& plan) {
    const Placement& placement = plan.placement;
    if (plan.target.kind == ProgramKind::team)
        return fmt::format("by hand:\n  STRATA_LAYOUT={} STRATA_STRIDE={} STRATA_BIND={} {}\n",
                           to_text(placement.layout), placement.layout.stride, bind_text(placement.layout),
                           shell_words(plan.job.command));
    const auto processes = static_cast<int>(placement.threads.size());
    std::vector<std::string> masks, users;
    std::string ranks;
    for (int p = 0; p < processes; ++p) {
        const std::vector<int> pus = placement.pus(p);
        users.push_back(fmt::format("{}", fmt::join(pus, "+")));
        std::string digits(static_cast<size_t>(pus.back()) / 4 + 1, '0');
        for (const int pu : pus) {
            char& digit = digits[digits.size() - 1 - static_cast<size_t>(pu) / 4];
            const int value = (digit <= '9' ? digit - '0' : digit - 'a' + 10) | (1 << pu % 4);
            digit = "0123456789abcdef"[value];
        }
        masks.push_back("0x" + digits);
        ranks += fmt::format("           rank {}=localhost slot={}\n", p, print_cpulist(pus));
    }
    std::string text = openmp_by_hand(placement);
    if (processes == 1) {
        const Memories memory = placement.memory_of(0);
        std::string policy;
        if (memory.policy == Policy::interleave) policy = " --interleave=" + print_cpulist(memory.nodes);
        if (memory.policy == Policy::bind || memory.policy == Policy::local)
            policy = " --membind=" + print_cpulist(memory.nodes);
        text += fmt::format("  numactl  --physcpubind={}{}\n", print_cpulist(placement.pus(0)), policy);
    }
    text += fmt::format("  Slurm    srun -n {} --cpu-bind=mask_cpu:{}\n", processes, fmt::join(masks, ","));
    text += fmt::format("  MPICH    mpiexec -n {} -bind-to user:{}\n", processes, fmt::join(users, ","));
    text += fmt::format(
        "  Open MPI mpirun -n {} --mca rmaps_rank_file_physical 1 --rankfile FILE, which holds\n{}",
        processes, ranks);
    return text + for_likwid(plan);
}

}  // namespace

std::string describe(const Plan& plan, const Request& request) {
    const Layout& layout = plan.placement.layout;
    std::string text = fmt::format("program: {} ({})\n", plan.target.program.path,
                                   !plan.target.program.why.empty() ? plan.target.program.why
                                   : plan.target.launcher           ? "a launcher"
                                                                    : "a rank");
    text += fmt::format("start:   {}\n", kind_text(plan));
    if (plan.target.mpirun && request.explain) {
        const std::string version = version_of(plan.target.mpirun->path);
        if (!version.empty()) text += "version: " + version;
    }
    text += fmt::format("layout:  {} (processes x threads), stride {}, bind {}\n", to_text(layout),
                        layout.stride, bind_text(layout));
    if (!plan.machine.is_system()) text += fmt::format("machine: {}\n", plan.machine.source);
    for (const std::string& line : plan.placement.why) text += fmt::format("why:     {}\n", line);
    if (plan.job.limits.memory_bytes)
        text += fmt::format("limit:   {} of memory for the whole run\n",
                            print_size(*plan.job.limits.memory_bytes));
    if (plan.job.limits.exclusive)
        text += fmt::format("limit:   an exclusive cpuset of PU {}\n", print_cpulist(plan.job.limits.pus));
    if (!plan.text_memories.empty())
        text += fmt::format("text:    brought to memory P#{} before the start\n",
                            print_cpulist(plan.text_memories));
    if (!plan.job.broadcast.empty())
        text += fmt::format("sends:   {} and its libraries to {} on each node, by sbcast\n", plan.job.sent,
                            plan.job.broadcast);
    const std::string unverified = plan.machine.is_system() ? why_unverified(plan.placement) : "";
    if (!unverified.empty()) text += fmt::format("pages:   {}: {}\n", kUnverified, unverified);
    text += table_of(plan);
    const bool team = plan.target.kind == ProgramKind::team;
    const Rank rank = plan.target.rank.value_or(Rank{});
    const int shown = std::min(rank.local_rank, static_cast<int>(plan.placement.threads.size()) - 1);
    text += team ? "environment of the program:\n" : fmt::format("environment of process {}:\n", shown);
    for (const Setting& s :
         team ? settings_for_team(plan.placement)
              : settings_for(plan.placement, shown, rank.rank, std::max(rank.size, layout.processes)))
        text += s.removed ? fmt::format("  unset {}\n", s.name) : fmt::format("  {}={}\n", s.name, s.value);
    text += fmt::format("command: {}\n", shell_words(plan.job.processes.front().arguments));
    text += fmt::format("then:    {}\n", plan.supervised
                                             ? "stays with it until it and all that it started have ended"
                                             : "does not stay: the program takes this process' place");
    const bool all_here = static_cast<int>(plan.placement.threads.size()) == layout.processes;
    if (layout.bind != Bind::none && all_here) text += by_hand(plan);
    return text;
}

std::string describe_json(const Plan& plan, const Request& request) {
    std::ostringstream out;
    Json j(out);
    const Layout& layout = plan.placement.layout;
    j.object().member("schema", "strata.placement/1").members("command", request.command);
    j.key("program").object().member("path", plan.target.program.path).member("why", plan.target.program.why);
    j.member("mpi", plan.target.program.mpi == Mpi::none ? std::string() : to_text(plan.target.program.mpi));
    j.member("openmp", openmp_of(plan.target.program.path, environment_value("LD_LIBRARY_PATH"))).end();
    j.member("start", kind_text(plan)).member("machine", plan.machine.source);
    j.member("layout", to_text(layout)).member("stride", layout.stride).member("bind", bind_text(layout));
    j.members("why", plan.placement.why);
    j.key("processes").array();
    for (size_t p = 0; p < plan.placement.threads.size(); ++p) {
        j.object().key("threads").array();
        for (const auto& pus : plan.placement.threads[p]) {
            const Enclosing in = enclosing(plan.machine, pus);
            j.object().member("pus", print_cpulist(pus)).member("cores", in.cores);
            j.member("domains", in.domains).member("packages", in.packages).end();
        }
        j.end().member("memory", to_text(plan.placement.memory_of(static_cast<int>(p)))).end();
    }
    j.end().member("supervised", plan.supervised);
    j.members("start_command", plan.job.processes.front().arguments).end();
    out << '\n';
    return out.str();
}

}  // namespace strata::launch
