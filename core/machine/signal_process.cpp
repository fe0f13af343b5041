#include "core/machine/signal_process.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "core/machine/proc.hpp"

namespace strata::machine {
namespace {

bool descends_from(int pid, int root) {
    for (auto stat = read_stat(pid); stat && stat->parent > 0; stat = read_stat(stat->parent))
        if (stat->parent == root) return true;
    return false;
}

}  // namespace

bool signal_process(int pid, int number, const std::function<bool()>& still) {
    const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
    const bool gone = process < 0 && errno == ESRCH;
    if (gone || !still()) {
        if (process >= 0) close(process);
        return false;
    }
    // Without pidfds, or without room for one: the number may become another's between look and signal.
    if (process < 0) return kill(pid, number) == 0;
    const bool sent = syscall(SYS_pidfd_send_signal, process, number, nullptr, 0) == 0;
    close(process);
    return sent;
}

bool signal_descendant(int pid, int number, int root) {
    return signal_process(pid, number, [&] { return descends_from(pid, root); });
}

}  // namespace strata::machine
