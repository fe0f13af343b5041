// The program for several nodes under its own MPI's mpirun, on one machine that plays several.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
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

/// Open MPI's mpirun ends with the status of the first of its processes to fail. MPICH's mixes that with how
/// it ended the others, may end by their signal, and was seen to lose it (4.2, one of many killed runs: 0).
inline bool failed_with(int code, const Done& done, const std::string& program) {
    if (has(program, "mpich")) return done.status != 0 || has(done.err, "; the run ends");
    return WIFEXITED(done.status) && WEXITSTATUS(done.status) == code;
}

/// The files in /dev/shm by which an MPI's ranks send each other messages, made since `since` (s, system
/// clock) and used by nobody: what a run that was killed left, once all of it has ended.
inline std::vector<std::string> stray_segments(double since) {
    std::ostringstream all_maps;
    std::error_code error;
    for (const auto& process : std::filesystem::directory_iterator("/proc", error)) {
        std::ifstream maps(process.path() / "maps");
        all_maps << maps.rdbuf();  // throws nothing where the process has just ended
        all_maps.clear();
    }
    const std::string mapped = all_maps.str();
    std::vector<std::string> found;
    for (const auto& file : std::filesystem::directory_iterator("/dev/shm", error)) {
        const std::string path = file.path(), name = file.path().filename();
        struct stat status {};
        const bool known = name.starts_with("vader_segment.") || name.starts_with("sm_segment.") ||
                           name.starts_with("mpich_sh");
        if (known && stat(path.c_str(), &status) == 0 && status.st_uid == getuid() &&
            static_cast<double>(status.st_ctime) >= since && !has(mapped, path))
            found.push_back(path);
    }
    return found;
}

/// Waits a moment for that: a test beside this one may just have had its ranks killed.
inline bool no_segments_left(double since) {
    for (int i = 0; i < 300; ++i) {
        if (stray_segments(since).empty()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    return false;
}

/// Every `per_node` ranks are a node. All are on this machine: Open MPI 5 writes of its network interfaces to
/// standard error where they do not reach each other. To look for libfabric takes Open MPI 4 three seconds.
inline std::vector<launch::Setting> nodes_of(int per_node) {
    return {{"STRATA_RANKS_PER_NODE", std::to_string(per_node)},
            {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
            {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
            {"OMPI_MCA_btl", "^tcp,ofi"},
            {"OMP_NUM_THREADS", "", true}};
}

}  // namespace strata::team::testing
