#include "core/launch/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "core/launch/elf.hpp"

namespace strata::launch {
namespace {

bool is_file(const std::string& path) {
    struct stat status {};
    return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

/// The first line of a script without "#!", or nothing when the file is no script.
std::optional<std::string> interpreter_line(const std::string& file) {
    const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return std::nullopt;
    char start[256];
    const ssize_t n = read(fd, start, sizeof start);
    close(fd);
    if (n < 2 || start[0] != '#' || start[1] != '!') return std::nullopt;
    const std::string line(start + 2, static_cast<size_t>(n) - 2);
    const std::string first = line.substr(0, line.find('\n'));
    return first.substr(std::min(first.find_first_not_of(" \t"), first.size()));
}

[[noreturn]] void not_runnable(const std::string& command, const std::string& file, int why) {
    throw Error("the command cannot be run", kNotRunnable)
        .given(fmt::format("{} ({}: {})", command, file, std::strerror(why)))
        .allowed("an executable file")
        .remedy(fmt::format("chmod +x {}, or check that it was built for this machine", file));
}

}  // namespace

std::string environment_value(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

bool on_path(const std::string& command) {
    try {
        find_command(command, environment_value("PATH"));
        return true;
    } catch (const Error&) {
        return false;
    }
}

std::string find_command(const std::string& command, const std::string& path) {
    if (command.find('/') != std::string::npos) {
        if (is_file(command)) {
            if (access(command.c_str(), X_OK) != 0) not_runnable(command, command, errno);
            return command;
        }
        throw Error("command not found", kNotFound)
            .given(command)
            .allowed("an executable file")
            .remedy("check the path; it is taken from the current directory");
    }
    std::string unusable;
    for (size_t begin = 0; begin <= path.size() && !command.empty();) {
        const size_t end = std::min(path.find(':', begin), path.size());
        const std::string folder = end == begin ? "." : path.substr(begin, end - begin);
        const std::string file = folder + "/" + command;
        if (is_file(file)) {
            if (access(file.c_str(), X_OK) == 0) return file;
            unusable = file;
        }
        begin = end + 1;
    }
    if (!unusable.empty()) not_runnable(command, unusable, EACCES);
    throw Error("command not found", kNotFound)
        .given(command.empty() ? "an empty name" : command)
        .allowed("a program on PATH, or the path of one")
        .remedy(is_file(command) ? fmt::format("./{}, since the current directory is not on PATH", command)
                                 : "the full path, or load the module that provides it");
}

Mpi mpi_of_library(const std::string& name) {
    const std::string file = name.substr(name.rfind('/') + 1);
    const auto is = [&](const char* stem) {
        const size_t n = std::strlen(stem);
        return file.compare(0, n, stem) == 0 && (file.size() == n || file[n] == '.');
    };
    // Open MPI has kept libmpi.so.40 since 3.0 (20: 2.x, 12: 1.7-1.10, long gone); MPICH and those that share
    // its ABI (Intel, MVAPICH, Cray) keep libmpi.so.12, older ones libmpich.so.12.
    if (is("libmpi.so.40") || is("libmpi.so.20") || is("libmpi_mpifh.so.40") || is("libmpi_cxx.so.40") ||
        is("libopen-rte.so.40")) {
        return Mpi::open_mpi;
    }
    if (is("libmpi.so.12") || is("libmpich.so") || is("libmpich.so.12") || is("libmpifort.so.12") ||
        is("libmpicxx.so.12")) {
        return Mpi::mpich;
    }
    if (is("libmpi_abi.so.1") || is("libmpi_abi.so.0")) return Mpi::standard_abi;
    // Another MPI's: HPE's MPT (libmpi.so), Spectrum (libmpi_ibm.so.3), a version that is not out yet.
    if (is("libmpi.so") || is("libmpi_ibm.so")) return Mpi::unknown;
    return Mpi::none;
}

std::string to_text(Mpi mpi) {
    switch (mpi) {
        case Mpi::open_mpi:
            return "Open MPI";
        case Mpi::mpich:
            return "MPICH";
        case Mpi::standard_abi:
            return "MPI (standard ABI)";
        case Mpi::unknown:
            return "an MPI that is not known";
        case Mpi::none:
            break;
    }
    return "no MPI";
}

Program examine(const std::string& file, const std::string& library_path) {
    Program program{file, Mpi::none, "", "", false};
    if (const auto line = interpreter_line(file)) {
        program.why = fmt::format("a script run by {}", *line);
        return program;
    }
    const auto elf = read_elf(file);
    if (!elf) {
        program.why = "not a 64-bit ELF file";
        return program;
    }
    const auto says_team = [](const Elf& file_of) {
        return std::find(file_of.notes.begin(), file_of.notes.end(), kTeamNote) != file_of.notes.end();
    };
    program.team = says_team(*elf);
    if (!elf->dynamic) {
        program.why = "linked statically";
        return program;
    }
    visit_libraries(file, LibraryPaths(library_path), [&](const std::string& name, const std::string& found) {
        if (!program.team && !found.empty())
            if (const auto library = read_elf(found)) program.team = says_team(*library);
        program.mpi = mpi_of_library(name);
        if (program.mpi == Mpi::none) return false;
        program.mpi_library = found;
        program.why = found.empty() ? fmt::format("needs {}, which the loader does not find", name)
                                    : fmt::format("loads {}", found);
        return true;
    });
    if (program.mpi == Mpi::none) program.why = "links no MPI";
    return program;
}

std::string openmp_of(const std::string& file, const std::string& library_path) {
    std::string found;
    if (!read_elf(file)) return found;
    visit_libraries(
        file, LibraryPaths(library_path),
        [&](const std::string& name, const std::string&) {
            // GNU's, LLVM's and Intel's, and those of NVIDIA's and Cray's compilers.
            for (const char* runtime :
                 {"libgomp.so", "libomp.so", "libomp5.so", "libiomp5.so", "libnvomp.so", "libcraymp.so"})
                if (name.rfind(runtime, 0) == 0) found = name;
            return !found.empty();
        },
        Visit::all);
    return found;
}

}  // namespace strata::launch
