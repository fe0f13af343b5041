#include "core/launch/mpi.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <limits>

#include "core/base/text.hpp"
#include "core/launch/elf.hpp"

namespace strata::launch {
namespace {

bool runnable(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

/// The first launcher in `folder` whose kind is the one asked (for the standard ABI: either).
std::optional<Mpirun> in_folder(const std::string& where, Mpi asked) {
    // Open MPI takes an absolute name as its prefix and refuses "/", so /bin, where it is a link, must read
    // /usr/bin.
    std::error_code ignored;
    const std::string folder = std::filesystem::weakly_canonical(where, ignored);
    constexpr std::array kNames = {"mpirun.openmpi", "mpirun.mpich", "mpiexec.hydra",
                                   "mpirun",         "mpiexec",      "orterun"};
    for (const char* name : kNames) {
        const std::string path = folder + "/" + name;
        if (!runnable(path)) continue;
        const Mpi kind = kind_of_mpirun(path);
        if (kind != Mpi::none && (kind == asked || asked == Mpi::standard_abi)) return Mpirun{path, kind, ""};
    }
    return std::nullopt;
}

std::optional<int> integer(const char* name) {
    return parse_number<int>(environment_value(name), 0, std::numeric_limits<int>::max());
}

template <size_t N>
std::optional<int> first_integer(const std::array<const char*, N>& names) {
    for (const char* name : names)
        if (const auto value = integer(name)) return value;
    return std::nullopt;
}

}  // namespace

Mpi kind_of_mpirun(const std::string& mpirun) {
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::weakly_canonical(mpirun, ignored);
    const std::string name = real.filename();
    if (name == "orterun" || name == "prterun" || name.find("openmpi") != std::string::npos)
        return Mpi::open_mpi;
    if (name == "mpiexec.hydra" || name.find("mpich") != std::string::npos) return Mpi::mpich;
    // Each MPI brings helpers of its own.
    const std::string folder = real.parent_path();
    const bool open_mpi = runnable(folder + "/ompi_info"), mpich = runnable(folder + "/hydra_pmi_proxy");
    if (open_mpi != mpich) return open_mpi ? Mpi::open_mpi : Mpi::mpich;
    return Mpi::none;
}

Mpirun find_mpirun(const Program& program, const std::string& path) {
    // As written first, then with links followed: Debian's libmpi.so may be reached through alternatives.
    std::error_code ignored;
    for (std::filesystem::path library : {std::filesystem::path(program.mpi_library),
                                          std::filesystem::weakly_canonical(program.mpi_library, ignored)}) {
        for (std::filesystem::path folder = library.parent_path(); folder.has_relative_path();
             folder = folder.parent_path()) {
            if (folder.filename() != "lib" && folder.filename() != "lib64") continue;
            if (auto found = in_folder(folder.parent_path() / "bin", program.mpi)) {
                found->why = fmt::format("beside {}", program.mpi_library);
                return *found;
            }
        }
    }
    for (size_t begin = 0; begin <= path.size();) {
        const size_t end = std::min(path.find(':', begin), path.size());
        if (auto found = in_folder(path.substr(begin, end - begin), program.mpi)) {
            found->why = "on PATH";
            return *found;
        }
        begin = end + 1;
    }
    throw Error("the program's MPI has no mpirun here")
        .given(fmt::format("{}, {}", program.path, program.why))
        .allowed(fmt::format("mpirun of {} beside that library or on PATH", to_text(program.mpi)))
        .remedy("load that MPI's module, or put its bin folder on PATH");
}

std::vector<std::string> mpirun_command(const Mpirun& mpirun, int processes, bool more_than_cores) {
    std::vector<std::string> command = {mpirun.path, "-n", std::to_string(processes)};
    if (mpirun.mpi == Mpi::open_mpi) {
        command.insert(command.end(), {"--bind-to", "none"});
        // Open MPI counts a slot per core; asked for more it refuses, unless told that this is meant.
        if (more_than_cores) command.emplace_back("--oversubscribe");
    } else {
        command.insert(command.end(), {"-bind-to", "none"});
    }
    return command;
}

std::optional<Rank> rank_from_environment() {
    // Open MPI; MPICH's Hydra and what descends from it; MVAPICH; Slurm's srun. A batch step of Slurm also
    // carries SLURM_PROCID, so srun counts only with a step of its own.
    const auto rank =
        first_integer(std::array{"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK"});
    const bool step = environment_value("SLURM_STEP_ID") != "" && integer("SLURM_STEP_ID").has_value();
    const auto slurm = step ? integer("SLURM_PROCID") : std::nullopt;
    if (!rank && !slurm) return std::nullopt;
    Rank result;
    result.rank = rank ? *rank : *slurm;
    result.size =
        first_integer(std::array{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_NTASKS"})
            .value_or(1);
    result.local_rank = first_integer(std::array{"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                                 "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"})
                            .value_or(result.rank);
    const auto local_size = first_integer(
        std::array{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"});
    const auto of_slurm = slurm ? slurm_tasks_on(environment_value("SLURM_STEP_TASKS_PER_NODE"),
                                                 integer("SLURM_NODEID").value_or(0))
                                : std::nullopt;
    result.local_size = local_size ? *local_size : of_slurm.value_or(result.size);
    return result;
}

std::string remedy_for_lone_ranks() {
    const auto said = [](const char* name) { return environment_value(name) != ""; };
    const bool by_mpirun =
        said("OMPI_COMM_WORLD_RANK") || said("MPI_LOCALRANKID") || said("MV2_COMM_WORLD_RANK");
    if (said("SLURM_STEP_ID") && !by_mpirun)
        return "srun --mpi=pmix for Open MPI, srun --mpi=pmi2 for MPICH (srun --mpi=list: what this Slurm "
               "offers), or that MPI's mpirun inside the allocation";
    return "the mpirun of the MPI that the program is linked with (ldd ./a.out), which strata launch "
           "--layout "
           "PxT --mpi finds";
}

std::string remedy_for_early_end() {
    const bool by_slurm =
        integer("SLURM_STEP_ID") && integer("PMIX_RANK") && integer("SLURM_STEP_NUM_NODES").value_or(1) > 1;
    if (!by_slurm || environment_value(kSlurmFence) == kSlurmFenceThatHolds) return "";
    return fmt::format("{}={} srun ...: else Slurm may let ranks out of MPI_Init before all are ready",
                       kSlurmFence, kSlurmFenceThatHolds);
}

std::optional<int> slurm_tasks_on(const std::string& tasks_per_node, int node) {
    int nodes_before = 0;
    std::string_view rest = tasks_per_node;
    do {
        const int tasks = take_number<int>(rest).value_or(0);
        int times = 1;
        if (take(rest, "(x")) {
            times = take_number<int>(rest).value_or(0);
            if (!take(rest, ")")) return std::nullopt;
        }
        if (tasks < 1 || times < 1) return std::nullopt;
        nodes_before += times;
        if (node < nodes_before) return tasks;
    } while (take(rest, ","));
    return std::nullopt;
}

}  // namespace strata::launch
