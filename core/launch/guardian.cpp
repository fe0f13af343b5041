#include "core/launch/guardian.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <thread>

#include "core/launch/control_groups.hpp"
#include "core/launch/scratch.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::launch {

namespace {

constexpr int kQuietRounds = 5;

/// Keeps the pipe alone: a shell that waits for the end of the launcher's output must not wait for us.
void close_all_but(int kept) {
    const int nothing = open("/dev/null", O_RDWR);
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
    DIR* folder = opendir("/proc/self/fd");
    if (folder == nullptr) return;
    while (const dirent* entry = readdir(folder)) {
        const int fd = std::atoi(entry->d_name);
        if (fd > STDERR_FILENO && fd != kept && fd != dirfd(folder)) close(fd);
    }
    closedir(folder);
}

/// The command line that `ps` shows of this process, in place of the launcher's command line: the kernel
/// reads it where the arguments lie (arg_start and arg_end, proc(5)).
void show_as(const std::string& title) {
    const auto stat = machine::read_file("/proc/self/stat");
    const size_t close_at = stat ? stat->rfind(')') : std::string::npos;
    if (close_at == std::string::npos) return;
    std::istringstream fields(stat->substr(close_at + 2));
    std::string skipped;
    constexpr int arg_start = 48, third = 3;
    for (int i = third; i < arg_start; ++i) fields >> skipped;
    std::uintptr_t begin = 0, end = 0;
    if (!(fields >> begin >> end) || begin == 0 || end <= begin + 1) return;
    char* const words = reinterpret_cast<char*>(begin);
    std::memset(words, 0, end - begin);
    std::memcpy(words, title.data(), std::min(title.size(), end - begin - 1));
}

[[noreturn]] void guard(int line, int guarded) {
    setsid();
    show_as("strata: guardian of " + std::to_string(guarded));
    prctl(PR_SET_NAME, "strata-guardian", 0, 0, 0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP})
        std::signal(signal, SIG_IGN);
    close_all_but(line);
    if (chdir("/") != 0) _exit(1);
    char word = 0;
    ssize_t n = 0;
    while ((n = read(line, &word, 1)) < 0 && errno == EINTR) {
    }
    // A process that the dead one had just forked may hold its lock for an instant longer.
    for (int quiet = 0; n == 0 && quiet < kQuietRounds; ++quiet) {
        if (!sweep_leftovers(all_group_parents()).empty()) quiet = 0;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    _exit(0);
}

}  // namespace

Guardian::Guardian() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    const int guarded = getpid();
    pid_ = fork();
    if (pid_ == 0) {
        close(ends[1]);
        guard(ends[0], guarded);
    }
    close(ends[0]);
    if (pid_ < 0) {
        close(ends[1]);
        return;
    }
    line_ = ends[1];
}

Guardian::~Guardian() {
    if (line_ < 0) return;
    char word = 0;
    // It hangs up when it ends: nobody finds it running after the launcher.
    if (send(line_, &word, 1, MSG_NOSIGNAL) == 1)
        while (read(line_, &word, 1) < 0 && errno == EINTR) {
        }
    close(line_);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace strata::launch
