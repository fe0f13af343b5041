#pragma once

namespace strata::cli {

/// Where ./strata took the word of its last start on this host (STRATA_MEMORY names the file, setup/key.sh
/// writes it): checks that word. True, with the environment set as ./strata sets it, where the same build
/// still belongs to this machine: processor, system, switches, compiler, MPI and C library are those of then,
/// and no source is newer. Else ./strata starts again and looks for itself. `command` is the front's first
/// word, or null: for `launch` only the launcher's sources count. Returns at once where there is no such
/// word.
void recall(char** words, const char* command);

}  // namespace strata::cli
