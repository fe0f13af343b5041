// The program for several nodes under its own MPI's mpirun, on one machine that plays several.
#pragma once

#include <sstream>

#include "core/launch/mpi.hpp"
#include "core/launch/program.hpp"
#include "tests/team/run.hpp"

namespace strata::team::testing {

/// One for each MPI that is here.
inline std::vector<std::string> nodes_programs() {
    std::vector<std::string> programs;
    std::istringstream list(TEST_NODES);
    for (std::string program; std::getline(list, program, ':');) programs.push_back(program);
    return programs;
}

/// mpirun -n RANKS PROGRAM with what this MPI needs to put so many on this machine.
inline std::vector<std::string> under_mpirun(int ranks, const std::string& program) {
    const auto mpirun =
        launch::find_mpirun(launch::examine(program, launch::environment_value("LD_LIBRARY_PATH")),
                            launch::environment_value("PATH"));
    auto command = launch::mpirun_command(mpirun, ranks, true);
    command.push_back(program);
    return command;
}

/// Open MPI's mpirun ends with the status of the first of its processes to fail; MPICH's mixes that with how
/// it ended the others.
inline bool failed_with(int code, const Done& done, const std::string& program) {
    if (!WIFEXITED(done.status)) return false;
    return has(program, "mpich") ? WEXITSTATUS(done.status) != 0 : WEXITSTATUS(done.status) == code;
}

/// Every `per_node` ranks are a node.
inline std::vector<launch::Setting> nodes_of(int per_node) {
    return {{"STRATA_RANKS_PER_NODE", std::to_string(per_node)},
            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"OMP_NUM_THREADS", "", true}};
}

}  // namespace strata::team::testing
