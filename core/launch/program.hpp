// The program that a command names, found on PATH, and the MPI that it links, if any.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace strata::launch {

/// Exit code of a command that was found but cannot be run, as shells give it.
inline constexpr int kNotRunnable = 126;

enum class Mpi { none, open_mpi, mpich, standard_abi, unknown };

struct Program {
    std::string path;         // the file that the command names
    Mpi mpi = Mpi::none;      // which MPI it links
    std::string mpi_library;  // the file of that MPI; empty when the loader would not find it
    std::string why;          // how this is known, for --explain
    bool team = false;        // starts its processes itself (strata::team)
};

/// The file that `command` names: itself when it holds a slash, else the first on `path`. Throws Error with
/// the exit code that shells give: 127 not found, 126 found but not runnable.
std::string find_command(const std::string& command, const std::string& path);

/// Whether there is a command of this name on PATH.
bool on_path(const std::string& command);

/// The kind of `file`. A script is run by its interpreter and links nothing. `library_path` is
/// LD_LIBRARY_PATH.
Program examine(const std::string& file, const std::string& library_path);

/// Which MPI a library's name stands for: the names carry the interface version that each MPI promises to
/// keep.
Mpi mpi_of_library(const std::string& name);
std::string to_text(Mpi mpi);

/// The OpenMP runtime that a file links, as a library's name; empty for none.
std::string openmp_of(const std::string& file, const std::string& library_path);

/// The value of an environment variable, or "".
std::string environment_value(const char* name);

}  // namespace strata::launch
