#include "core/launch/start.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/base/cpulist.hpp"
#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/control_groups.hpp"
#include "core/launch/environment.hpp"
#include "core/launch/rank_plan.hpp"
#include "core/launch/scratch.hpp"

namespace strata::launch {
namespace {

/// The words by which another node's launcher has the same wish.
std::vector<std::string> wish_words(const Plan& plan, const Request& request) {
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
    return words;
}

/// The words that make each rank of an mpirun or srun take its place.
std::vector<std::string> rank_words(const Plan& plan, const Request& request) {
    std::vector<std::string> words = wish_words(plan, request);
    words.insert(words.end(), {"--as-rank", encode(plan.placement), "--"});
    return words;
}

/// Whether ranks need neither the topology of their node nor a policy: then a program that has no library
/// starts them (rank_program.cpp).
bool is_simple(const Plan& plan, const Request& request) {
    const Wish& wish = request.wish;
    return request.rank_program && plan.target.launcher->kind == ParallelLauncher::slurm &&
           plan.placement.layout.bind == Bind::none && wish.memory.policy == Policy::inherit &&
           wish.huge == Huge::as_is && wish.core_kind.empty() && wish.file.empty();
}

std::vector<Setting> launcher_settings(ParallelLauncher launcher) {
    std::vector<Setting> settings = {{"STRATA_RANK", "", true}, {"STRATA_LIFELINE_FD", "", true}};
    if (launcher == ParallelLauncher::open_mpi && geteuid() == 0) {
        settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT", "1"});
        settings.push_back({"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"});
    }
    if (launcher == ParallelLauncher::slurm && environment_value(kSlurmFence).empty())
        settings.push_back({kSlurmFence, kSlurmFenceThatHolds});
    return settings;
}

Process mpirun_process(const Plan& plan, const Request& request) {
    const int processes = plan.placement.layout.processes;
    std::vector<std::string> words = mpirun_command(*plan.target.mpirun, processes, processes > plan.cores);
    for (std::string& word : rank_words(plan, request)) words.push_back(std::move(word));
    words.insert(words.end(), request.command.begin(), request.command.end());
    const ParallelLauncher launcher =
        plan.target.mpirun->mpi == Mpi::open_mpi ? ParallelLauncher::open_mpi : ParallelLauncher::mpich;
    return {plan.target.mpirun->path, words, apply_settings(launcher_settings(launcher), own_environment()),
            plan.placement.pus(), true};
}

/// The user's own mpirun command, with its binding off and the launcher in front of the program.
Process launcher_process(const Plan& plan, const Request& request) {
    const auto& command = request.command;
    const auto program = command.begin() + static_cast<std::ptrdiff_t>(plan.target.launcher->program_at);
    std::vector<std::string> words = {command.front()};
    for (std::string& word : launcher_options(*plan.target.launcher, plan.placement.layout.processes))
        words.push_back(std::move(word));
    words.insert(words.end(), command.begin() + 1, program);
    std::vector<Setting> settings = launcher_settings(plan.target.launcher->kind);
    if (is_simple(plan, request)) {
        words.push_back(*request.rank_program);
        settings.push_back({kRankPlan, rank_plan(plan.placement)});
    }
    for (std::string& word : rank_words(plan, request)) words.push_back(std::move(word));
    words.insert(words.end(), program, command.end());
    return {plan.target.program.path, words, apply_settings(settings, own_environment()),
            plan.placement.pus(), true};
}

/// One process of the program: process `index` of this node's placement.
Process program_process(const Plan& plan, const Request& request, int index, int rank, int size) {
    return {plan.target.program.path,
            request.command,
            apply_settings(settings_for(plan.placement, index, rank, size), own_environment()),
            plan.placement.pus(index),
            index == 0,
            plan.placement.memory_of(index)};
}

/// A team's small parent: it binds its members itself, each as the placement says.
Process team_process(const Plan& plan, const Request& request) {
    return {plan.target.program.path, request.command,
            apply_settings(settings_for_team(plan.placement), own_environment()), plan.placement.pus()};
}

}  // namespace

std::vector<Process> processes_for(const Plan& plan, const Request& request) {
    switch (plan.target.kind) {
        case ProgramKind::rank: {
            const Rank& rank = *plan.target.rank;
            return {program_process(plan, request, rank.local_rank, rank.rank, rank.size)};
        }
        case ProgramKind::launcher_command:
            return {launcher_process(plan, request)};
        case ProgramKind::team:
            return {team_process(plan, request)};
        case ProgramKind::mpi:
            return {mpirun_process(plan, request)};
        case ProgramKind::plain:
            break;
    }
    std::vector<Process> copies;
    const int processes = plan.placement.layout.processes;
    for (int p = 0; p < processes; ++p) copies.push_back(program_process(plan, request, p, p, processes));
    return copies;
}

std::vector<std::string> node_reader(const Plan& plan, const Request& request) {
    std::vector<std::string> words = wish_words(plan, request);
    words.emplace_back("--");
    words.push_back(request.command[plan.target.launcher->program_at]);
    return words;
}

void become_program(const Plan& plan, const Request& request) {
    // What a run whose supervisor and guardian were both killed left is removed by the next launch of any
    // kind.
    if (!plan.target.rank || plan.target.rank->size == 1) sweep_leftovers(all_group_parents(), {"/dev/shm"});
    // A rank started by this launcher ends with its mpirun, also when that is killed by SIGKILL.
    if (request.as_rank) prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    const Process& process = plan.job.processes.front();
    if (plan.placement.layout.bind != Bind::none && !bind_to(process.pus))
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
