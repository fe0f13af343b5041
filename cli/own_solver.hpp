// A solver of one's own, as `strata new` writes it: a folder with NAME.py, or with a CMakeLists.txt that says
// find_package(strata) and builds the program NAME.
#pragma once

#include <optional>
#include <string>

namespace strata::cli {

/// The folder of Strata's CMake package (strataConfig.cmake): in the installed tree of this front, or in the
/// Python package beside it. A checkout that has not built it yet becomes setup/part.sh, as find_program()
/// does. Throws Error where there is none.
[[nodiscard]] std::string cmake_package();

/// The prefix of that, for CMAKE_PREFIX_PATH.
[[nodiscard]] std::string cmake_prefix();

/// Whether a folder holds a solver in C++.
[[nodiscard]] bool is_own_solver(const std::string& folder);

/// The program NAME of the folder, built where its sources, its compiler or Strata changed since the last
/// time: in FOLDER/build, or, where that cannot be written or is another user's, below
/// ${XDG_CACHE_HOME:-~/.cache}/strata. One process builds at a time. Says on standard error that it builds,
/// and what the compiler says. Throws Error where it does not compile.
[[nodiscard]] std::string built_solver(const std::string& folder, const std::string& name);

}  // namespace strata::cli
