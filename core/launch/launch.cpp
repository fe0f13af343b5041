#include "core/launch/launch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/inherited.hpp"
#include "core/launch/node_readback.hpp"
#include "core/launch/start.hpp"

namespace strata::launch {
namespace {

std::string own_executable() {
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n <= 0) throw system_error("the launcher cannot find itself in /proc/self/exe", errno);
    return {path, static_cast<size_t>(n)};
}

/// The placement that the launcher of the whole run has chosen for its ranks. Another node than the planned
/// one may allow other PUs, so it is believed only where this node has all ranks.
std::optional<Placement> given_placement(const Target& target, const Request& request) {
    if (!request.as_rank || target.rank->local_size != request.wish.layout.processes) return std::nullopt;
    Placement placement = decode(*request.as_rank, request.wish.layout);
    if (static_cast<int>(placement.threads.size()) != target.rank->local_size) return std::nullopt;
    return placement;
}

/// A rank sees the PUs that its node's daemon may use, not the part that MPI's launcher has bound it to.
machine::Machine machine_for(const Target& target, const Request& request) {
    if (target.rank) bind_to(affinity_of(getppid()));
    return machine::read_machine({.text = request.machine,
                                  .with_devices = !request.wish.near.empty(),
                                  .with_limits = false,
                                  .cached = true});
}

/// The layout of `strata launch -- mpirun -n 4 ...`: its processes are mpirun's.
Wish agreed_with(const LauncherCommand& command, Wish wish) {
    const int asked = wish.layout.processes;
    if (!wish.layout_given && wish.file.empty()) wish.layout.processes = command.processes.value_or(1);
    if (command.processes && wish.layout.processes != *command.processes)
        throw Error("the layout and the MPI launcher that is started disagree")
            .given(fmt::format("--layout {} around {} -n {}", to_text(wish.layout), to_text(command.kind),
                               *command.processes))
            .allowed(fmt::format("{} processes in both", *command.processes))
            .remedy(fmt::format("--layout {}x{}, or -n {}", *command.processes, wish.layout.threads, asked));
    return wish;
}

/// On how many nodes srun deals out the ranks: as it is told, else all that the job has.
int nodes_of(const LauncherCommand& command) {
    if (command.kind != ParallelLauncher::slurm) return 1;
    const int given = std::atoi(environment_value("SLURM_JOB_NUM_NODES").c_str());
    return std::max(1, command.nodes.value_or(given));
}

/// The placement of the processes that one node has: all, or an even part of them. Every node makes its own
/// when its ranks start, for as many as it was given.
Placement place_on_this_node(const machine::Machine& machine, Wish wish, int nodes) {
    const int all = wish.layout.processes, here = (all + nodes - 1) / nodes;
    // A file or a list says itself where each process goes.
    if (here == all || !wish.file.empty() || wish.layout.bind == Bind::list) return place(machine, wish);
    wish.layout.processes = here;
    Placement placement = place(machine, wish);
    placement.layout.processes = all;
    placement.why.push_back(fmt::format(
        "nodes: {}, which have about {} of {} processes each; the table is one node's", nodes, here, all));
    return placement;
}

/// The placement of the ranks that this node was given.
Placement place_ranks(const machine::Machine& machine, Wish wish, const Rank& rank) {
    const int all = wish.layout.processes;
    wish.layout.processes = rank.local_size;
    Placement placement = place(machine, wish);
    placement.layout.processes = all;
    return placement;
}

Placement placement_for(const machine::Machine& machine, const Target& target, const Request& request) {
    if (target.rank) return place_ranks(machine, request.wish, *target.rank);
    if (!target.launcher) return place_on_this_node(machine, request.wish, 1);
    Placement placement =
        place_on_this_node(machine, agreed_with(*target.launcher, request.wish), nodes_of(*target.launcher));
    // A string of likwid's may say itself how many processes there are.
    (void)agreed_with(*target.launcher, {.layout = placement.layout});
    return placement;
}

/// A rank that makes its own placement is held on `inherited` again where nothing is bound, and else must not
/// have been bound to other PUs by its launcher.
void check_rank(const Plan& plan, const Request& request, const std::vector<int>& inherited, bool given) {
    const Rank& rank = *plan.target.rank;
    if (!given && request.wish.layout.bind == Bind::none)
        bind_to(inherited);
    else if (!given && !request.as_rank && rank.local_rank < rank.local_size)
        refuse_contradicting_binding(plan.placement, rank.local_rank, rank, inherited, request.command);
    if (rank.local_rank < static_cast<int>(plan.placement.threads.size())) return;
    throw Error("this node was given more processes than the layout has", kFailure)
        .given(fmt::format("local rank {}", rank.local_rank))
        .allowed(fmt::format("0 to {}", plan.placement.threads.size() - 1));
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

/// Memories for the program's text; none where it stays as it is.
std::vector<int> memories_for_text(const Plan& plan, Text text) {
    if (text == Text::as_is) return {};
    std::vector<int> nodes =
        memories_near(plan.machine, text == Text::local ? plan.placement.pus(0) : plan.placement.pus());
    // One copy serves all: "local" is the first process' domain.
    if (text == Text::local && nodes.size() > 1) nodes.erase(nodes.begin() + 1, nodes.end());
    return nodes;
}

/// Whether a batch system has given the run more nodes than this one, or srun asks it for them.
bool several_nodes(bool by_srun) {
    const std::string nodes = environment_value("SLURM_JOB_NUM_NODES");
    return nodes.empty() ? by_srun : nodes != "1";
}

void plan_memory(Plan& plan, const Request& request) {
    if (!request.as_rank) refuse_contradicting_policy(request.wish.memory, request.machine);
    if (plan.target.rank) return;  // the launcher of the whole run holds it to its limits
    plan.text_memories = memories_for_text(plan, request.text);
    plan.job.limits = request.limits;
    plan.job.limits.pus = plan.placement.pus();
    plan.job.limits.memories = memories_of_run(plan.placement);
}

void plan_start(Plan& plan, const Request& request) {
    plan.job.launcher = own_executable();
    plan.job.command = request.command;
    plan.job.placement = plan.placement;
    plan.job.processes = processes_for(plan, request);
    if (plan.target.rank) return;
    const Target& target = plan.target;
    const bool ranks = target.kind == ProgramKind::launcher_command || target.kind == ProgramKind::mpi;
    plan.job.by_srun = target.launcher && target.launcher->kind == ParallelLauncher::slurm;
    plan.job.several_nodes = ranks && several_nodes(plan.job.by_srun);
    if (!request.broadcast.empty()) {
        const size_t at = target.launcher->program_at;
        plan.job.broadcast = request.broadcast;
        plan.job.sent = find_command(request.command[at], environment_value("PATH"));
        plan.job.program_word = plan.job.processes.front().arguments.size() - (request.command.size() - at);
    }
    const Watch& watch = request.watch;
    if (plan.job.by_srun && plan.job.several_nodes) plan.job.node_reader = node_reader(plan, request);
    // An MPI leaves shared segments and session folders behind, which the supervisor removes.
    plan.supervised = ranks || (target.kind == ProgramKind::plain && plan.job.processes.size() > 1) ||
                      watch.record || watch.check || watch.timeout_s > 0 || watch.own_share ||
                      watch.lifeline || plan.job.limits.any();
}

void bring_text(const Plan& plan, const Request& request) {
    if (plan.text_memories.empty()) return;
    const std::string program =
        plan.target.launcher
            ? find_command(request.command[plan.target.launcher->program_at], environment_value("PATH"))
            : plan.target.program.path;
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
    plan.target = target_of(request);
    const std::optional<Placement> given = given_placement(plan.target, request);
    const std::vector<int> inherited = affinity_of();
    if (!given) plan.machine = machine_for(plan.target, request);
    if (!plan.target.rank) plan.cores = static_cast<long>(allowed_cores(plan.machine).size());
    plan.placement = given ? *given : placement_for(plan.machine, plan.target, request);
    if (plan.target.rank) check_rank(plan, request, inherited, given.has_value());
    plan_memory(plan, request);
    plan_start(plan, request);
    return plan;
}

int read_node(const Request& request, const std::string& mark) {
    Target reader;
    reader.rank = Rank{.size = request.wish.layout.processes};
    const machine::Machine machine = machine_for(reader, request);
    return read_this_node(mark, own_executable(), [&](int ranks) {
        Rank some = *reader.rank;
        some.local_size = ranks;
        return place_ranks(machine, request.wish, some);
    });
}

int carry_out(const Plan& plan, const Request& request) {
    if (request.dry_run || request.explain)
        fmt::print(request.dry_run ? stdout : stderr, "{}",
                   request.json ? describe_json(plan, request) : describe(plan, request));
    if (request.dry_run) return kSuccess;
    const Layout& layout = plan.placement.layout;
    const long threads = static_cast<long>(layout.processes) * layout.threads;
    if (layout.bind == Bind::none && plan.cores > 0 && threads > plan.cores)
        fmt::print(stderr, "strata: note: {} threads share {} cores (--bind none)\n", threads, plan.cores);
    bring_text(plan, request);
    if (plan.supervised) return supervise(plan.job, request.watch);
    become_program(plan, request);
}

}  // namespace strata::launch
