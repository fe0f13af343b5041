// The target of a launch: the kind of program that the command names, with the facts of that kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch/launcher_command.hpp"
#include "core/launch/mpi.hpp"
#include "core/launch/program.hpp"
#include "core/launch/request.hpp"

namespace strata::launch {

enum class ProgramKind {
    plain,             // this process becomes the program, or starts copies with STRATA_RANK each
    rank,              // this process is a rank of another launcher and becomes the program
    launcher_command,  // mpirun or srun: the same command, with this launcher in front of its program
    team,              // a program that starts its members itself: it is started once
    mpi                // an MPI program: its own mpirun starts P launchers, each of which becomes the program
};

struct Target {
    ProgramKind kind = ProgramKind::plain;
    Program program;  // of a rank and of an mpirun command: the path alone
    std::optional<Rank> rank;
    std::optional<LauncherCommand> launcher;
    std::optional<Mpirun> mpirun;
};

/// A program by what its file links; a Python script that drives a team by what it imports, and by the MPI of
/// the module of graphs. `path`: the file of the command's first word.
Program examine_command(const std::vector<std::string>& command, const std::string& path);

/// Throws Error for a command that is not there, a program whose MPI is not known or has no mpirun, and a
/// request that a rank of another launcher cannot carry out.
Target target_of(const Request& request);

}  // namespace strata::launch
