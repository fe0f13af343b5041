#include "core/launch/over_nodes.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/launch/launcher_command.hpp"
#include "core/launch/program.hpp"
#include "core/launch/target.hpp"

namespace strata::launch {
namespace {

/// How srun is to let ranks of this MPI find each other; empty for a program without one.
std::string slurm_mpi(Mpi mpi) {
    switch (mpi) {
        case Mpi::open_mpi:
        case Mpi::standard_abi:
            return "--mpi=pmix";
        case Mpi::mpich:
            return "--mpi=pmi2";
        case Mpi::none:
        case Mpi::unknown:
            break;
    }
    return "";
}

void need_srun(int nodes) {
    if (on_path("srun")) return;
    throw Error("there is no Slurm here to start a program on other nodes", kFailure)
        .given(fmt::format("--nodes {}, and no srun on PATH", nodes))
        .allowed("a cluster with Slurm")
        .remedy(
            "load the cluster's Slurm module; without Slurm: mpirun with a list of hosts, around or inside "
            "strata launch; to try it here: strata cluster up");
}

}  // namespace

std::vector<std::string> over_nodes(const std::vector<std::string>& command, int nodes, const Layout& layout,
                                    bool label) {
    need_srun(nodes);
    if (layout.processes < nodes)
        throw Error("there are fewer processes than nodes")
            .given(fmt::format("--nodes {} with --layout {}", nodes, to_text(layout)))
            .allowed("at least a process on each node; the layout counts the processes of all nodes")
            .remedy(fmt::format("--layout {}x{}", nodes, layout.threads));
    const std::string path = find_command(command.front(), environment_value("PATH"));
    if (const auto launcher = find_launcher_command(command, path))
        throw Error("the command is a launcher's already")
            .given(fmt::format("--nodes {} with {}", nodes, command.front()))
            .allowed("--nodes with a program; or a launcher with options of its own")
            .remedy(fmt::format("strata launch --nodes {} --layout {} -- {}", nodes, to_text(layout),
                                command[launcher->program_at]));
    const Program program = examine_command(command, path);
    // Rank 0 and its neighbours lie on the first node, as the placement has it; where a file names the node
    // of each rank, it says which node is the first.
    const bool listed = !environment_value("SLURM_HOSTFILE").empty();
    // The file says how many nodes there are, too: Slurm 24.11 refuses to be told both.
    std::vector<std::string> words = {"srun",
                                      listed ? "--distribution=arbitrary" : fmt::format("--nodes={}", nodes),
                                      fmt::format("--ntasks={}", layout.processes),
                                      // Else every rank would get what is typed.
                                      "--input=0",
                                      // A rank that fails ends the step; else srun waits for all.
                                      "--kill-on-bad-exit=1"};
    if (!listed) words.emplace_back("--distribution=block");
    if (const std::string mpi = slurm_mpi(program.mpi); !mpi.empty()) words.push_back(mpi);
    if (environment_value("SLURM_JOB_ID").empty()) words.emplace_back("--exclusive");
    if (label) words.emplace_back("--label");
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

}  // namespace strata::launch
