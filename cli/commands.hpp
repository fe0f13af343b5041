// The native commands: each gets the words after its own name in argv[1..] and returns the exit status.
#pragma once

namespace strata::cli {

int balance_command(int argc, char** argv);
int machine_command(int argc, char** argv);
int bench_command(int argc, char** argv);
int launch_command(int argc, char** argv);
int run_command(int argc, char** argv);
int where_command(int argc, char** argv);

}  // namespace strata::cli
