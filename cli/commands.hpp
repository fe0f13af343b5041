// The native commands: each gets the words after its own name in argv[1..] and returns the exit status.
#pragma once

#include <string>
#include <vector>

#include "core/base/options.hpp"

namespace strata::cli {

int balance_command(int argc, char** argv);
int machine_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int launch_command(int argc, char** argv);
int replay_command(int argc, char** argv);
int run_command(int argc, char** argv);
int where_command(int argc, char** argv);

/// `strata launch` of a command under a layout, with the --stride and --bind that `own` was given.
int launch_laid_out(const std::string& layout, const Parsed& own, const std::vector<std::string>& command);

/// The Python that runs a solver written in it, which finds this front's own module by STRATA_BIN. Throws
/// Error.
[[nodiscard]] std::string python_for(const std::string& solver);

/// The command that runs a case: one of Strata's own solvers, or one of the user's own at PATH of
/// solver = "PATH/NAME", counted from the case's folder; without a PATH in that folder. Throws Error.
[[nodiscard]] std::vector<std::string> command_for(const std::string& file);

}  // namespace strata::cli
