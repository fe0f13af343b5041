#pragma once

namespace strata::cli {

/// ./strata keeps in a file what its last start on this host found (setup/key.sh writes it), and starts the
/// front of that build with STRATA_MEMORY naming the file. This checks that the build still belongs to this
/// machine: processor, system, switches, compiler, MPI and C library are those in the file, and no source is
/// newer than the build. Where that is so, it sets the environment as ./strata does and returns. Else it does
/// not return: this process becomes ./strata (STRATA_ENTRY) again, which looks for itself. `words` are
/// main's arguments; `command` is the first of them, or null: for `launch` only the launcher's sources count.
/// Without STRATA_MEMORY it returns at once.
void recall(char** words, const char* command);

}  // namespace strata::cli
