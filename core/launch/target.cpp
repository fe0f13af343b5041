#include "core/launch/target.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/base/error.hpp"
#include "core/launch/script.hpp"

namespace strata::launch {
namespace {

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

void refuse_unknown_mpi(const Program& program) {
    if (program.mpi != Mpi::unknown) return;
    throw Error("the program's MPI is not known")
        .given(fmt::format("{}: {}", program.path, program.why))
        .allowed(
            "Open MPI (libmpi.so.40), MPICH and its relatives (libmpi.so.12), the standard ABI "
            "(libmpi_abi.so)")
        .remedy(
            "that MPI's own launcher, its binding off, in front of strata launch --layout PxT -- ./program");
}

void refuse_mpi_without_mpi(const Program& program, const Request& request) {
    if (!request.mpi || program.mpi != Mpi::none) return;
    throw Error("the program cannot be started by an mpirun")
        .given(fmt::format("--mpi, {}: {}", program.path, program.why))
        .allowed("a program that links an MPI")
        .remedy(program.team ? "link strata::team_mpi, or leave out --mpi" : "leave out --mpi");
}

/// The module of graphs in Python that was built with this front; empty for none.
std::string graph_module() {
    namespace fs = std::filesystem;
    std::error_code none;
    const fs::path base = fs::read_symlink("/proc/self/exe", none).parent_path().parent_path();
    for (const char* folder : {"libexec/strata", "core/run/python"})
        for (const fs::directory_entry& entry : fs::directory_iterator(base / folder, none))
            if (const std::string name = entry.path().filename().string();
                name.starts_with("strata_graph.") && name.ends_with(".so"))
                return entry.path().string();
    return "";
}

}  // namespace

Program examine_command(const std::vector<std::string>& command, const std::string& path) {
    const std::string libraries = environment_value("LD_LIBRARY_PATH");
    Program program = examine(path, libraries);
    const std::string script = python_script(command, program.path);
    if (script.empty() || !drives_a_team(script)) return program;
    program.team = true;
    program.why = fmt::format("{} imports strata.graph.program", script);
    if (const std::string module = graph_module(); !module.empty()) {
        Program linked = examine(module, libraries);
        program.mpi = linked.mpi;
        program.mpi_library = std::move(linked.mpi_library);
    }
    return program;
}

Target target_of(const Request& request) {
    Target target;
    target.program.path = find_command(request.command.front(), environment_value("PATH"));
    if ((target.rank = rank_of_this(request))) {
        target.kind = ProgramKind::rank;
        return target;
    }
    target.launcher = find_launcher_command(request.command, target.program.path,
                                            request.wish.layout_given ? to_text(request.wish.layout) : "PxT");
    if (target.launcher) {
        target.kind = ProgramKind::launcher_command;
        return target;
    }
    target.program = examine_command(request.command, target.program.path);
    if (target.program.team && !request.mpi) {
        target.kind = ProgramKind::team;
        return target;
    }
    refuse_unknown_mpi(target.program);
    refuse_mpi_without_mpi(target.program, request);
    if (target.program.mpi != Mpi::none) {
        target.kind = ProgramKind::mpi;
        target.mpirun = find_mpirun(target.program, environment_value("PATH"));
    }
    return target;
}

}  // namespace strata::launch
