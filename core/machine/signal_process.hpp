// Signals to processes whose numbers were read from /proc or from a file: by now a number may be another's.
#pragma once

#include <functional>

namespace strata::machine {

/// Sends a signal to the process that has this number, if `still` finds, looking once more, that it is the
/// one that is meant. The process is held meanwhile (pidfd_open(2), Linux 5.3): whoever gets its number
/// after that look is not signalled. Whether it was sent.
bool signal_process(int pid, int number, const std::function<bool()>& still);

/// As descendants_of(), of a moment ago: if it still descends from `root`.
bool signal_descendant(int pid, int number, int root);

}  // namespace strata::machine
