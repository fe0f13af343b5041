// Output that nobody has read yet.
#pragma once

#include <chrono>

namespace strata {

/// Waits until what was written to a pipe or a terminal has been read from its other end, no longer
/// than `most`, and a tenth of a second more, in which the reader may pass it on. A launcher of MPI reads its
/// processes' output so, and drops what it has not passed on when one of them fails (Open MPI 5): the last
/// words of a process that fails would be lost. Other files: returns at once.
void wait_until_read(int descriptor, std::chrono::milliseconds most);

}  // namespace strata
