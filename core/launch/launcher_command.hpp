// A command that is itself an MPI's or Slurm's launcher: where its own options end and the program begins.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace strata::launch {

enum class ParallelLauncher { open_mpi, mpich, slurm };
std::string to_text(ParallelLauncher launcher);

struct LauncherCommand {
    ParallelLauncher kind = ParallelLauncher::open_mpi;
    size_t program_at = 0;         // index of the program in the command
    std::optional<int> processes;  // as -n says
    std::optional<int> nodes;      // as srun's -N says, at least
    bool binds_nothing = false;    // the user has switched its binding off already
};

/// What `command` (whose first word is the file `path`) is, when it is mpirun, mpiexec or srun; nothing for
/// any other program. Throws Error for one whose MPI is not known, for an option that is not known (whether
/// the next word belongs to it cannot be told), for one that binds against the layout, and for several
/// programs in one command. `layout`: what was asked, for what the message says to type.
std::optional<LauncherCommand> find_launcher_command(const std::vector<std::string>& command,
                                                     const std::string& path,
                                                     const std::string& layout = "PxT");

/// Options to put right after the launcher's name: the number of processes (unless given) and its own binding
/// off.
std::vector<std::string> launcher_options(const LauncherCommand& command, int processes);

}  // namespace strata::launch
