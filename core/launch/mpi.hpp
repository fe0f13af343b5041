// Starting an MPI program with the mpirun of the very MPI that it links, and knowing one's rank inside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/program.hpp"

namespace strata::launch {

struct Mpirun {
    std::string path;
    Mpi mpi = Mpi::none;  // open_mpi or mpich
    std::string why;      // how it was found, for --explain
};

/// The mpirun that belongs to the program's MPI: looked for beside its library (prefix/lib -> prefix/bin,
/// also through the folders of multiarch), by its own name first (mpirun.openmpi), then on PATH, where one of
/// the same kind will do. Throws Error when there is none: another MPI's mpirun would start P programs that
/// each believe they are alone.
Mpirun find_mpirun(const Program& program, const std::string& path);

/// Its command up to the program: P processes, its own binding off, since each rank binds itself.
std::vector<std::string> mpirun_command(const Mpirun& mpirun, int processes, bool more_than_cores);

/// Which MPI an mpirun or mpiexec belongs to, from its name and what lies beside it; Mpi::none when neither
/// tells.
Mpi kind_of_mpirun(const std::string& path);

/// This process' numbers, as an MPI's launcher gives them.
struct Rank {
    int rank = 0, size = 1;              // in the world
    int local_rank = 0, local_size = 1;  // on this node
};

/// This process' rank from the environment; nothing when no MPI started it.
std::optional<Rank> rank_from_environment();

/// The remedy where ranks that were started do not find each other: whoever started this process and its MPI
/// do not speak with each other.
std::string remedy_for_lone_ranks();

/// How srun has its PMIx hold ranks in MPI_Init until all are there: messages go round a ring of the nodes.
/// Left to itself Slurm takes a tree for that, and in a step over fewer nodes than its TreeWidth each node is
/// a tree of its own (Slurm's reverse_tree.c, `width > num_nodes`, in 22.05 and still in 26.05). So nothing
/// is waited for, and Open MPI's ranks crash where a message comes before they can take it.
constexpr const char* kSlurmFence = "SLURM_PMIX_FENCE";
constexpr const char* kSlurmFenceThatHolds = "ring";

/// The remedy where a rank was killed by a signal in MPI_Init; empty where nothing is known against it.
std::string remedy_for_early_end();

/// The number of tasks of a Slurm step on the node number `node`, from SLURM_STEP_TASKS_PER_NODE's form
/// "4(x2),3"; nothing when it says nothing of that node.
std::optional<int> slurm_tasks_on(const std::string& tasks_per_node, int node);

}  // namespace strata::launch
