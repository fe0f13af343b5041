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
int run_command(int argc, char** argv);
int where_command(int argc, char** argv);

/// `strata launch` of a command under a layout, with the --stride and --bind that `own` was given.
int launch_laid_out(const std::string& layout, const Parsed& own, const std::vector<std::string>& command);

}  // namespace strata::cli
