#include "core/base/in_a_child.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"

namespace strata {
namespace {

constexpr std::size_t kMostSaid = std::size_t{64} << 20;
/// The last byte of what a child says. Its exit status may be lost: where SIGCHLD is ignored, which programs
/// inherit, the kernel collects children.
constexpr char kWhole = '\n';

void limit(int what, rlim_t most) {
    const rlimit both{most, most};
    setrlimit(static_cast<decltype(RLIMIT_CORE)>(what), &both);
}

void with_limits() {
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, 30);
    for (const int deadly : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGALRM, SIGPIPE})
        signal(deadly, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    alarm(60);
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
}

[[noreturn]] void do_and_say(const std::function<std::string()>& work, int to) {
    with_limits();
    try {
        _exit(write_all(to, work() + kWhole) == 0 ? 0 : 1);
    } catch (...) {
        _exit(1);
    }
}

}  // namespace

std::optional<std::string> in_a_child(const std::function<std::string()>& work) {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("no pipe to a process of its own", errno);
    const pid_t child = fork();
    if (child == 0) do_and_say(work, ends[1]);
    const int failed = child < 0 ? errno : 0;
    close(ends[1]);
    std::string said;
    std::array<char, 1 << 16> piece;
    ssize_t got = 0;
    while (child > 0 && said.size() <= kMostSaid + 1 &&
           ((got = read(ends[0], piece.data(), piece.size())) > 0 || (got < 0 && errno == EINTR)))
        if (got > 0) said.append(piece.data(), static_cast<std::size_t>(got));
    close(ends[0]);
    if (failed != 0) throw system_error("no process can be started that reads a file apart", failed);
    const bool too_much = said.size() > kMostSaid + 1;
    if (too_much) kill(child, SIGKILL);
    int status = 0;
    pid_t ended = -1;
    while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
    }
    const bool failed_there = ended == child && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    if (too_much || failed_there || said.empty() || said.back() != kWhole) return std::nullopt;
    said.pop_back();
    return said;
}

void claim_at_most(std::size_t more) {
    std::ifstream statm("/proc/self/statm");
    rlim_t size = 0, resident = 0, shared = 0, text = 0, none = 0, data = 0;  // in pages
    if (!(statm >> size >> resident >> shared >> text >> none >> data)) return;
    limit(RLIMIT_DATA, data * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more);
}

}  // namespace strata
