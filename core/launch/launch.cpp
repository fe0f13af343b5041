#include "core/launch/launch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/proc.hpp"
#include "core/machine/machine.hpp"

namespace strata::launch {
namespace {

std::string own_executable() {
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n <= 0) throw system_error("the launcher cannot find itself in /proc/self/exe", errno);
    return {path, static_cast<size_t>(n)};
}

std::vector<Core> cores_here() {
    return allowed_cores(
        machine::read_machine({.text = "system", .with_devices = false, .with_limits = false}));
}

std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(by, begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

std::string lists_of(const std::vector<std::vector<int>>& threads, const char* between) {
    std::vector<std::string> lists;
    for (const auto& pus : threads) lists.push_back(print_cpulist(pus));
    return fmt::format("{}", fmt::join(lists, between));
}

/// Under another launcher (mpirun -n 4 strata launch --layout 4x1 ...) this process may already be bound to a
/// part of what its job may use. The launcher that started it, its parent, is not: its processors are the
/// job's.
void take_jobs_processors() { bind_to(affinity_of(getppid())); }

/// Whether this process is a rank that an MPI's launcher started for this layout.
std::optional<Rank> rank_of_this(const Request& request) {
    const auto rank = rank_from_environment();
    if (request.as_rank) {
        if (!rank) throw Error("a rank of this launcher finds no rank in its environment", kFailure);
        return rank;
    }
    if (!rank || rank->size == 1)
        return std::nullopt;  // a shell inside somebody's step is no rank of this run
    if (rank->size != request.layout.processes)
        throw Error("the layout and the MPI launcher around it disagree")
            .given(
                fmt::format("--layout {} inside a run of {} processes", to_text(request.layout), rank->size))
            .allowed(fmt::format("{} processes", rank->size))
            .remedy(fmt::format("--layout {}x{}, or leave out the outer launcher", rank->size,
                                request.layout.threads));
    if (request.watch.record)
        throw Error("a record is of a whole run, not of one of its ranks")
            .given(fmt::format("--record {} inside rank {}", *request.watch.record, rank->rank))
            .allowed("strata launch --record around the MPI program")
            .remedy("leave out the outer mpirun: strata launch starts the program's own");
    return rank;
}

void plan_rank(Plan& plan, const Request& request, const Rank& rank) {
    plan.rank = rank.rank;
    plan.size = rank.size;
    plan.index = rank.local_rank;
    Layout here = request.layout;
    here.processes = rank.local_size;
    if (request.as_rank && rank.local_size == request.layout.processes) {
        plan.placement = decode(*request.as_rank, request.layout);
    } else {
        take_jobs_processors();
        plan.placement = place(cores_here(), here);
        plan.placement.layout.processes = request.layout.processes;
    }
    if (plan.index < static_cast<int>(plan.placement.threads.size())) return;
    throw Error("this node was given more processes than the layout has", kFailure)
        .given(fmt::format("local rank {}", plan.index))
        .allowed(fmt::format("0 to {}", plan.placement.threads.size() - 1));
}

Process mpirun_process(const Plan& plan, const Request& request) {
    const bool crowded = plan.placement.layout.processes > plan.cores;
    std::vector<std::string> arguments = mpirun_command(*plan.mpirun, request.layout.processes, crowded);
    const std::string layout = to_text(request.layout), stride = std::to_string(request.layout.stride);
    for (const std::string& word :
         {plan.job.launcher, std::string("launch"), std::string("--layout"), layout, std::string("--stride"),
          stride, std::string("--bind"), to_text(request.layout.bind), std::string("--as-rank"),
          encode(plan.placement), std::string("--")})
        arguments.push_back(word);
    arguments.insert(arguments.end(), request.command.begin(), request.command.end());
    std::vector<Setting> settings = {{"STRATA_RANK", "", true}, {"STRATA_LIFELINE_FD", "", true}};
    if (plan.mpirun->mpi == Mpi::open_mpi && geteuid() == 0) {
        settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT", "1"});
        settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"});
    }
    return {plan.mpirun->path, arguments, apply_settings(settings, own_environment()), plan.placement.pus(),
            true};
}

Process program_process(const Plan& plan, const Request& request, int index, int rank, int size) {
    return {plan.program.path, request.command,
            apply_settings(settings_for(plan.placement, index, rank, size), own_environment()),
            plan.placement.pus(index), index == 0};
}

std::string kind_text(const Plan& plan) {
    switch (plan.how) {
        case How::mpirun:
            return fmt::format("{}, started with {} ({})", to_text(plan.mpirun->mpi), plan.mpirun->path,
                               plan.mpirun->why);
        case How::copies:
            return fmt::format("{} copies", plan.placement.layout.processes);
        case How::become:
            break;
    }
    return plan.size > 1 ? fmt::format("rank {} of {}", plan.rank, plan.size)
                         : "this process becomes the program";
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

}  // namespace

std::string encode(const Placement& placement) {
    std::vector<std::string> processes;
    for (const auto& process : placement.threads) processes.push_back(lists_of(process, ":"));
    return fmt::format("{}", fmt::join(processes, ";"));
}

Placement decode(const std::string& word, const Layout& layout) {
    Placement placement{layout, {}};
    for (const std::string& process : split(word, ';')) {
        auto& threads = placement.threads.emplace_back();
        for (const std::string& thread : split(process, ':')) threads.push_back(parse_cpulist(thread));
    }
    return placement;
}

Plan make_plan(const Request& request) {
    Plan plan;
    const Layout& layout = request.layout;
    plan.job.launcher = own_executable();
    plan.job.command = request.command;
    plan.program.path = find_command(request.command.front(), environment_value("PATH"));
    if (const auto rank = rank_of_this(request)) {
        plan_rank(plan, request, *rank);
        plan.job.processes = {program_process(plan, request, plan.index, plan.rank, plan.size)};
        return plan;
    }
    plan.program = examine(plan.program.path, environment_value("LD_LIBRARY_PATH"));
    const std::vector<Core> cores = cores_here();
    plan.cores = static_cast<long>(cores.size());
    plan.placement = place(cores, layout);
    if (plan.program.mpi != Mpi::none) {
        plan.how = How::mpirun;
        plan.mpirun = find_mpirun(plan.program, environment_value("PATH"));
        plan.job.processes = {mpirun_process(plan, request)};
    } else {
        plan.how = layout.processes > 1 ? How::copies : How::become;
        for (int p = 0; p < layout.processes; ++p)
            plan.job.processes.push_back(program_process(plan, request, p, p, layout.processes));
    }
    plan.job.placement = plan.placement;
    const Watch& watch = request.watch;
    plan.supervised =
        plan.how == How::copies || watch.record || watch.timeout_s > 0 || watch.own_share || watch.lifeline;
    return plan;
}

std::string describe(const Plan& plan, const Request& request) {
    const Layout& layout = request.layout;
    std::string text = fmt::format("program: {} ({})\n", plan.program.path,
                                   plan.program.why.empty() ? "a rank" : plan.program.why);
    text += fmt::format("start:   {}\n", kind_text(plan));
    if (plan.mpirun && request.explain) {
        const std::string ask = shell_words({plan.mpirun->path, "--version"}) + " 2>/dev/null";
        char line[256] = "";
        if (FILE* said = popen(ask.c_str(), "r")) {
            if (std::fgets(line, sizeof line, said) == nullptr) line[0] = '\0';
            pclose(said);
        }
        if (line[0] != '\0') text += fmt::format("version: {}", line);
    }
    text += fmt::format("layout:  {} (processes x threads), stride {}, bind {}\n", to_text(layout),
                        layout.stride, to_text(layout.bind));
    for (size_t p = 0; p < plan.placement.threads.size(); ++p) {
        const bool bound = layout.bind == Bind::core;
        text += fmt::format("process {}: {} {}\n", p, bound ? "threads on PU" : "anywhere on PU",
                            bound ? lists_of(plan.placement.threads[p], " ")
                                  : print_cpulist(plan.placement.pus(static_cast<int>(p))));
    }
    const int shown = std::min(plan.index, static_cast<int>(plan.placement.threads.size()) - 1);
    text += fmt::format("environment of process {}:\n", shown);
    for (const Setting& s :
         settings_for(plan.placement, shown, plan.rank, std::max(plan.size, layout.processes)))
        text += s.removed ? fmt::format("  unset {}\n", s.name) : fmt::format("  {}={}\n", s.name, s.value);
    text += fmt::format("command: {}\n", shell_words(plan.job.processes.front().arguments));
    text += fmt::format("then:    {}\n", plan.supervised
                                             ? "stays with it until it and all that it started have ended"
                                             : "does not stay: the program takes this process' place");
    return text;
}

int carry_out(const Plan& plan, const Request& request) {
    if (request.dry_run || request.explain)
        fmt::print(request.dry_run ? stdout : stderr, "{}", describe(plan, request));
    if (request.dry_run) return kSuccess;
    const Layout& layout = request.layout;
    const long threads = static_cast<long>(layout.processes) * layout.threads;
    if (!request.as_rank && layout.bind == Bind::none && plan.cores > 0 && threads > plan.cores)
        fmt::print(stderr, "strata: note: {} threads share {} cores (--bind none)\n", threads, plan.cores);
    if (plan.supervised) return supervise(plan.job, request.watch);
    // A rank started by this launcher ends with its mpirun, also when that is killed by SIGKILL.
    if (request.as_rank) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const Process& process = plan.job.processes.front();
    if (layout.bind == Bind::core && !bind_to(process.pus))
        throw system_error("the process cannot be bound", errno)
            .given(fmt::format("PU {}", print_cpulist(process.pus)))
            .allowed(fmt::format("PU {}", print_cpulist(affinity_of())))
            .remedy("--bind none, or ask the batch system for whole cores");
    refuse_start(process.path, become(process.path, process.arguments, process.environment));
}

}  // namespace strata::launch
