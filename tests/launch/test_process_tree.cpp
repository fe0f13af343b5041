#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/launch/bind.hpp"
#include "core/launch/process_tree.hpp"
#include "core/machine/proc.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::launch;
using namespace strata::machine;

TEST_CASE("every descendant is ended: deaf, escaped by double fork and setsid, or stopped") {
    // In a child, since it becomes a subreaper and ends all that is below it.
    const pid_t pid = fork();
    if (pid == 0) {
        adopt_orphans();
        for (int i = 0; i < 3; ++i) {
            if (fork() != 0) continue;
            setsid();
            signal(SIGTERM, SIG_IGN);
            for (int j = 0; j < 2; ++j)
                if (fork() == 0 && j == 0) raise(SIGSTOP);
            if (getppid() == 1) _exit(0);
            while (true) pause();
        }
        while (descendants_of(getpid()).size() < 9) usleep(1000);
        const bool all_found_dead = end_all_descendants().empty();
        _exit(all_found_dead && descendants_of(getpid()).empty() ? 0 : 1);
    }
    int status = -1;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("one process is spared when all others are ended") {
    const pid_t pid = fork();
    if (pid == 0) {
        adopt_orphans();
        const auto sleeper = [] {
            const pid_t child = fork();
            while (child == 0) pause();
            return child;
        };
        const pid_t other = sleeper(), spared = sleeper();
        const bool all_found_dead = end_all_descendants(10, spared).empty() && kill(other, 0) != 0;
        _exit(all_found_dead && descendants_of(getpid()) == std::vector<int>{spared} &&
                      end_all_descendants().empty()
                  ? 0
                  : 1);
    }
    int status = -1;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    CHECK(exit_status(status) == 0);
}

TEST_CASE("a process that cannot become its program says why; one that can says nothing") {
    for (const char* path : {"/no/such/program", "/bin/true"}) {
        int report[2];
        REQUIRE(pipe2(report, O_CLOEXEC) == 0);
        const Started started = start_process(report, [&] { return become(path, {path}, {}); });
        CHECK(started.pid > 0);
        CHECK(started.error == (path[1] == 'n' ? ENOENT : 0));
        int status = -1;
        REQUIRE(waitpid(started.pid, &status, 0) == started.pid);
        CHECK(exit_status(status) == (path[1] == 'n' ? kNotFound : 0));
    }
}

TEST_CASE("what /proc says of this process is what this process knows of itself") {
    const auto stat = read_stat(getpid());
    REQUIRE(stat);
    CHECK(stat->parent == getppid());
    CHECK(stat->start_time > 0);
    CHECK(affinity_of(getpid()) == affinity_of());
    CHECK_FALSE(affinity_of().empty());
    CHECK(threads_of(getpid()).size() >= 1);
    CHECK_FALSE(read_stat(0));
    CHECK_FALSE(cpu_times().empty());
}
