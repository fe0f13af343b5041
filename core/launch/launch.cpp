#include "core/launch/launch.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/control_groups.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/inherited.hpp"
#include "core/launch/scratch.hpp"
#include "core/launch/script.hpp"

namespace strata::launch {
namespace {

std::string own_executable() {
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n <= 0) throw system_error("the launcher cannot find itself in /proc/self/exe", errno);
    return {path, static_cast<size_t>(n)};
}

machine::Machine machine_for(const Request& request) {
    return machine::read_machine({.text = request.machine,
                                  .with_devices = !request.wish.near.empty(),
                                  .with_limits = false,
                                  .cached = true});
}

/// Whether this process is a rank that an MPI's launcher started for this layout.
std::optional<Rank> rank_of_this(const Request& request) {
    const auto rank = rank_from_environment();
    const Layout& layout = request.wish.layout;
    if (request.as_rank) {
        if (!rank) throw Error("a rank of this launcher finds no rank in its environment", kFailure);
        return rank;
    }
    if (!rank || rank->size == 1)
        return std::nullopt;  // a shell inside somebody's step is no rank of this run
    if (rank->size != layout.processes)
        throw Error("the layout and the MPI launcher around it disagree")
            .given(fmt::format("--layout {} inside a run of {} processes", to_text(layout), rank->size))
            .allowed(fmt::format("{} processes", rank->size))
            .remedy(
                fmt::format("--layout {}x{}, or leave out the outer launcher", rank->size, layout.threads));
    const char* whole = request.watch.record          ? "--record"
                        : request.watch.check         ? "--check"
                        : request.limits.memory_bytes ? "--memory-limit"
                        : request.limits.exclusive    ? "--exclusive"
                                                      : nullptr;
    if (whole != nullptr)
        throw Error("this is of a whole run, not of one of its ranks")
            .given(fmt::format("{} inside rank {}", whole, rank->rank))
            .allowed(fmt::format("strata launch {} around the MPI program", whole))
            .remedy("leave out the outer mpirun: strata launch starts the program's own");
    return rank;
}

void plan_rank(Plan& plan, const Request& request, const Rank& rank) {
    plan.rank = rank.rank;
    plan.size = rank.size;
    plan.index = rank.local_rank;
    // Another node than the planned one may allow other PUs, so it is believed only where it has all ranks.
    if (request.as_rank && rank.local_size == request.wish.layout.processes)
        plan.placement = decode(*request.as_rank, request.wish.layout);
    if (static_cast<int>(plan.placement.threads.size()) != rank.local_size) {
        const std::vector<int> inherited = affinity_of();
        bind_to(affinity_of(getppid()));
        Wish here = request.wish;
        here.layout.processes = rank.local_size;
        plan.machine = machine_for(request);
        plan.placement = place(plan.machine, here);
        plan.placement.layout.processes = request.wish.layout.processes;
        if (request.wish.layout.bind == Bind::none)
            bind_to(inherited);
        else if (!request.as_rank && plan.index < rank.local_size)
            refuse_contradicting_binding(plan.placement, plan.index, rank, inherited, request.command);
    }
    if (plan.index < static_cast<int>(plan.placement.threads.size())) return;
    throw Error("this node was given more processes than the layout has", kFailure)
        .given(fmt::format("local rank {}", plan.index))
        .allowed(fmt::format("0 to {}", plan.placement.threads.size() - 1));
}

/// The words that make each rank of an mpirun or srun take its place.
std::vector<std::string> rank_words(const Plan& plan, const Request& request) {
    const Wish& wish = request.wish;
    const Layout& layout = plan.placement.layout;
    std::vector<std::string> words = {plan.job.launcher, "launch",   "--layout",
                                      to_text(layout),   "--stride", std::to_string(layout.stride)};
    const auto add = [&](const char* option, const std::string& value) {
        words.insert(words.end(), {option, value});
    };
    // A node with other ranks than this one lays them out by itself, from the same wish.
    add("--bind", bind_text(layout));
    if (wish.memory.policy != Policy::inherit) add("--memory", to_text(wish.memory));
    if (wish.huge != Huge::as_is) add("--huge-pages", wish.huge == Huge::on ? "on" : "off");
    if (wish.smt > 1) add("--smt", std::to_string(wish.smt));
    if (!wish.core_kind.empty()) add("--core-kind", wish.core_kind);
    if (!wish.near.empty()) add("--near", wish.near);
    if (!wish.file.empty()) add("--placement", wish.file);
    add("--as-rank", encode(plan.placement));
    words.emplace_back("--");
    return words;
}

std::vector<Setting> settings_around_ranks(Starter starter) {
    std::vector<Setting> settings = {{"STRATA_RANK", "", true}, {"STRATA_LIFELINE_FD", "", true}};
    if (starter == Starter::open_mpi && geteuid() == 0) {
        settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT", "1"});
        settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"});
    }
    if (starter == Starter::slurm && environment_value(kSlurmFence).empty())
        settings.push_back({kSlurmFence, kSlurmFenceThatHolds});
    return settings;
}

Process mpirun_process(const Plan& plan, const Request& request) {
    const int processes = plan.placement.layout.processes;
    std::vector<std::string> words = mpirun_command(*plan.mpirun, processes, processes > plan.cores);
    for (std::string& word : rank_words(plan, request)) words.push_back(std::move(word));
    words.insert(words.end(), request.command.begin(), request.command.end());
    const Starter starter = plan.mpirun->mpi == Mpi::open_mpi ? Starter::open_mpi : Starter::mpich;
    return {plan.mpirun->path, words, apply_settings(settings_around_ranks(starter), own_environment()),
            plan.placement.pus(), true};
}

/// The user's own mpirun command, with its binding off and the launcher in front of the program.
Process around_process(const Plan& plan, const Request& request) {
    const auto& command = request.command;
    const auto program = command.begin() + static_cast<std::ptrdiff_t>(plan.around->program_at);
    std::vector<std::string> words = {command.front()};
    for (std::string& word : words_for(*plan.around, plan.placement.layout.processes))
        words.push_back(std::move(word));
    words.insert(words.end(), command.begin() + 1, program);
    for (std::string& word : rank_words(plan, request)) words.push_back(std::move(word));
    words.insert(words.end(), program, command.end());
    return {plan.program.path, words,
            apply_settings(settings_around_ranks(plan.around->starter), own_environment()),
            plan.placement.pus(), true};
}

Process program_process(const Plan& plan, const Request& request, int index, int rank, int size) {
    return {plan.program.path,
            request.command,
            apply_settings(settings_for(plan.placement, index, rank, size), own_environment()),
            plan.placement.pus(index),
            index == 0,
            plan.placement.memory_of(index)};
}

/// A team's small parent: it binds its members itself, each as the placement says.
Process team_process(const Plan& plan, const Request& request) {
    return {plan.program.path, request.command,
            apply_settings(settings_for_team(plan.placement), own_environment()), plan.placement.pus()};
}

void refuse_mpi_without_mpi(const Plan& plan, const Request& request) {
    if (!request.mpi || plan.around || plan.program.mpi != Mpi::none) return;
    throw Error("the program cannot be started by an mpirun")
        .given(fmt::format("--mpi, {}: {}", plan.program.path, plan.program.why))
        .allowed("a program that links an MPI")
        .remedy(plan.program.team ? "link strata::team_mpi, or leave out --mpi" : "leave out --mpi");
}

/// The layout of `strata launch -- mpirun -n 4 ...`: its processes are mpirun's.
Wish agreed_with(const Around& around, Wish wish) {
    const int asked = wish.layout.processes;
    if (!wish.layout_given && wish.file.empty()) wish.layout.processes = around.processes.value_or(1);
    if (around.processes && wish.layout.processes != *around.processes)
        throw Error("the layout and the MPI launcher that is started disagree")
            .given(fmt::format("--layout {} around {} -n {}", to_text(wish.layout), to_text(around.starter),
                               *around.processes))
            .allowed(fmt::format("{} processes in both", *around.processes))
            .remedy(fmt::format("--layout {}x{}, or -n {}", *around.processes, wish.layout.threads, asked));
    return wish;
}

/// On how many nodes srun deals out the ranks: as it is told, else all that the job has.
int nodes_of(const Around& around) {
    if (around.starter != Starter::slurm) return 1;
    const int given = std::atoi(environment_value("SLURM_JOB_NUM_NODES").c_str());
    return std::max(1, around.nodes.value_or(given));
}

/// The placement of the processes that one node has: all, or an even part of them. Every node makes its own
/// when its ranks start, for as many as it was given.
Placement place_on_this_node(const machine::Machine& machine, Wish wish, int nodes) {
    const int all = wish.layout.processes, here = (all + nodes - 1) / nodes;
    // What is written down process by process says itself where each one goes.
    if (here == all || !wish.file.empty() || wish.layout.bind == Bind::list) return place(machine, wish);
    wish.layout.processes = here;
    Placement placement = place(machine, wish);
    placement.layout.processes = all;
    placement.why.push_back(fmt::format(
        "nodes: {}, which have about {} of {} processes each; the table is one node's", nodes, here, all));
    return placement;
}

void refuse_unknown_mpi(const Plan& plan) {
    if (plan.program.mpi != Mpi::unknown) return;
    throw Error("the program's MPI is not known")
        .given(fmt::format("{}: {}", plan.program.path, plan.program.why))
        .allowed(
            "Open MPI (libmpi.so.40), MPICH and its relatives (libmpi.so.12), the standard ABI "
            "(libmpi_abi.so)")
        .remedy(
            "that MPI's own launcher, its binding off, in front of strata launch --layout PxT -- ./program");
}

void plan_start(Plan& plan, const Request& request) {
    const int processes = plan.placement.layout.processes;
    refuse_mpi_without_mpi(plan, request);
    if (plan.around) {
        plan.how = How::around;
        plan.job.by_srun = plan.around->starter == Starter::slurm;
        plan.job.processes = {around_process(plan, request)};
    } else if (plan.program.team && !request.mpi) {
        plan.how = How::team;
        plan.job.processes = {team_process(plan, request)};
    } else if (plan.program.mpi != Mpi::none) {
        plan.how = How::mpirun;
        plan.mpirun = find_mpirun(plan.program, environment_value("PATH"));
        plan.job.processes = {mpirun_process(plan, request)};
    } else {
        plan.how = processes > 1 ? How::copies : How::become;
        for (int p = 0; p < processes; ++p)
            plan.job.processes.push_back(program_process(plan, request, p, p, processes));
    }
}

/// Whether a batch system has given the run more nodes than this one, or srun asks it for them.
bool several_nodes(const Plan& plan) {
    const std::string nodes = environment_value("SLURM_JOB_NUM_NODES");
    return nodes.empty() ? plan.job.by_srun : nodes != "1";
}

/// Memories that the whole run is held to; none when the policy leaves it the choice.
std::vector<int> memories_of_run(const Placement& placement) {
    std::vector<int> all;
    for (const Memories& memories : placement.memory) {
        if (memories.policy == Policy::first_touch || memories.policy == Policy::inherit) return {};
        all.insert(all.end(), memories.nodes.begin(), memories.nodes.end());
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::vector<int> memories_for_text(const Plan& plan, Text text) {
    if (text == Text::as_is) return {};
    std::vector<int> nodes =
        memories_near(plan.machine, text == Text::local ? plan.placement.pus(0) : plan.placement.pus());
    // One copy serves all: "local" is the first process' domain.
    if (text == Text::local && nodes.size() > 1) nodes.erase(nodes.begin() + 1, nodes.end());
    return nodes;
}

void bring_text(const Plan& plan, const Request& request) {
    if (plan.text_memories.empty()) return;
    const std::string program =
        plan.around ? find_command(request.command[plan.around->program_at], environment_value("PATH"))
                    : plan.program.path;
    std::uint64_t pages = 0, stayed = 0;
    std::string why;
    for (const TextPages& text :
         place_text(text_files(program, environment_value("LD_LIBRARY_PATH")), plan.text_memories)) {
        pages += text.pages;
        stayed += text.stayed;
        if (why.empty() && !text.why.empty()) why = text.path + ": " + text.why;
        if (request.explain)
            fmt::print(stderr, "text:    {}: {} pages, {} in place{}\n", text.path, text.pages,
                       text.pages - text.stayed, text.why.empty() ? "" : " (" + text.why + ")");
    }
    if (stayed > 0)
        fmt::print(stderr, "strata: note: {} of {} text pages stayed where they were: {}\n", stayed, pages,
                   why);
}

}  // namespace

Plan make_plan(const Request& request) {
    Plan plan;
    plan.job.launcher = own_executable();
    plan.job.command = request.command;
    plan.program.path = find_command(request.command.front(), environment_value("PATH"));
    if (!request.as_rank) refuse_contradicting_policy(request.wish.memory, request.machine);
    if (const auto rank = rank_of_this(request)) {
        plan_rank(plan, request, *rank);
        plan.job.processes = {program_process(plan, request, plan.index, plan.rank, plan.size)};
        return plan;
    }
    plan.around = find_around(request.command, plan.program.path,
                              request.wish.layout_given ? to_text(request.wish.layout) : "PxT");
    const Wish wish = plan.around ? agreed_with(*plan.around, request.wish) : request.wish;
    if (!plan.around) {
        plan.program = examine(plan.program.path, environment_value("LD_LIBRARY_PATH"));
        if (const std::string script = python_script(request.command, plan.program.path);
            !script.empty() && drives_a_team(script)) {
            plan.program.team = true;
            plan.program.why = fmt::format("{} imports strata.graph.program", script);
        }
        if (!plan.program.team || request.mpi) refuse_unknown_mpi(plan);
    }
    plan.machine = machine_for(request);
    plan.cores = static_cast<long>(allowed_cores(plan.machine).size());
    plan.placement = place_on_this_node(plan.machine, wish, plan.around ? nodes_of(*plan.around) : 1);
    // A string of likwid's may say itself how many processes there are.
    if (plan.around) (void)agreed_with(*plan.around, {.layout = plan.placement.layout});
    plan.text_memories = memories_for_text(plan, request.text);
    plan_start(plan, request);
    plan.job.placement = plan.placement;
    plan.job.limits = request.limits;
    plan.job.limits.pus = plan.placement.pus();
    plan.job.limits.memories = memories_of_run(plan.placement);
    plan.job.several_nodes = (plan.how == How::around || plan.how == How::mpirun) && several_nodes(plan);
    const Watch& watch = request.watch;
    // What an MPI leaves behind (shared segments, session folders) is removed by whoever stays.
    plan.supervised = (plan.how != How::become && plan.how != How::team) || watch.record || watch.check ||
                      watch.timeout_s > 0 || watch.own_share || watch.lifeline || plan.job.limits.any();
    return plan;
}

int carry_out(const Plan& plan, const Request& request) {
    if (request.dry_run || request.explain)
        fmt::print(request.dry_run ? stdout : stderr, "{}",
                   request.json ? describe_json(plan, request) : describe(plan, request));
    if (request.dry_run) return kSuccess;
    const Layout& layout = plan.placement.layout;
    const long threads = static_cast<long>(layout.processes) * layout.threads;
    if (!request.as_rank && layout.bind == Bind::none && plan.cores > 0 && threads > plan.cores)
        fmt::print(stderr, "strata: note: {} threads share {} cores (--bind none)\n", threads, plan.cores);
    bring_text(plan, request);
    if (plan.supervised) return supervise(plan.job, request.watch);
    // What a run whose supervisor and guardian were both killed left is removed by the next launch of any
    // kind.
    if (plan.size == 1) sweep_leftovers(all_group_parents(), {"/dev/shm"});
    // A rank started by this launcher ends with its mpirun, also when that is killed by SIGKILL.
    if (request.as_rank) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const Process& process = plan.job.processes.front();
    if (layout.bind != Bind::none && !bind_to(process.pus))
        throw system_error("the process cannot be bound", errno)
            .given(fmt::format("PU {}", print_cpulist(process.pus)))
            .allowed(fmt::format("PU {}", print_cpulist(affinity_of())))
            .remedy("--bind none, or ask the batch system for whole cores");
    if (!hold_memory(process.memory))
        throw system_error("the kernel does not take this memory policy", errno)
            .given(to_text(process.memory))
            .allowed("memories of this process' cpuset (Mems_allowed_list in /proc/self/status)")
            .remedy("--memory first-touch");
    refuse_start(process.path, become(process.path, process.arguments, process.environment));
}

}  // namespace strata::launch
