#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "core/launch/scratch.hpp"
#include "core/machine/proc.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
using namespace strata::launch;
using namespace strata::machine;
namespace fs = std::filesystem;

namespace {

/// Does something where the processes of this container are not seen, nor their numbers; false where no
/// container can be made. It shares files, as with `docker run --volume`, but not those of others' tests in
/// /dev/shm.
bool in_another_container(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID | CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER)) != 0) _exit(1);
        const pid_t first = fork();
        if (first == 0) {
            if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                mount("proc", "/proc", "proc", 0, nullptr) != 0 ||
                mount("tmpfs", "/dev/shm", "tmpfs", 0, nullptr) != 0)
                _exit(1);
            act();
            _exit(0);
        }
        int status = 1;
        waitpid(first, &status, 0);
        _exit(status == 0 ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
}

}  // namespace

TEST_CASE("a scratch folder exists as long as its owner, and a sweep lets it be") {
    const TestFolder folder;
    std::string path;
    {
        const Scratch scratch({folder.path});
        path = scratch.path();
        CHECK(fs::exists(path));
        std::ofstream(path + "/segment") << "x";
        CHECK(sweep_leftovers({}, {folder.path}).empty());
        CHECK(fs::exists(path));
    }
    CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a sweep removes what a dead owner left, and nothing that is locked, foreign or of another name") {
    const TestFolder folder;
    const std::string uid = std::to_string(getuid());
    // No process has had this start time and this number: pids end below 2^22.
    const std::string dead = folder.path + "/strata-" + uid + "-4194305-1",
                      locked = folder.path + "/strata-" + uid + "-4194306-1";
    const std::string recycled = fmt::format("{}/strata-{}-{}-1", folder.path, uid, getpid());
    const std::string foreign = folder.path + "/strata-" + uid + "9-4194305-1", other = folder.path + "/mine";
    for (const std::string& path : {dead, locked, recycled, foreign, other})
        fs::create_directories(path + "/inside");
    const int lock = open(locked.c_str(), O_RDONLY | O_DIRECTORY);
    REQUIRE(flock(lock, LOCK_EX) == 0);
    CHECK(sweep_leftovers({}, {folder.path}).size() == 2);
    CHECK_FALSE(fs::exists(dead));
    CHECK_FALSE(fs::exists(recycled));  // the number is in use again, by a process that started later
    CHECK(fs::exists(locked));
    CHECK(fs::exists(foreign));
    CHECK(fs::exists(other));
    close(lock);
}

TEST_CASE("the first folder that can be written is taken, and none is an error") {
    const TestFolder folder;
    const Scratch scratch({"/proc/nonexistent", folder.path});
    CHECK(fs::path(scratch.path()).parent_path() == folder.path);
    CHECK_THROWS(Scratch({"/proc/nonexistent"}));
}

TEST_CASE("nobody can make a run's folder first, and none is made where it could be replaced") {
    const TestFolder folder;
    const Scratch first({folder.path});
    // One of the same run: whoever sees a process knows its number and its start.
    const Scratch second({folder.path});
    CHECK(first.name() == second.name());
    CHECK(first.path() != second.path());
    CHECK(first.path().starts_with(folder.path + "/" + first.name() + "-"));
    fs::permissions(folder.path, fs::perms::all);
    CHECK_THROWS(Scratch({folder.path}));
}

TEST_CASE("a sweep knows a run by its name before the letters that nobody can foresee") {
    const TestFolder folder;
    const std::string dead = fmt::format("{}/strata-{}-4194305-1-AbC-eF", folder.path, getuid());
    fs::create_directories(dead);
    CHECK(sweep_leftovers({}, {folder.path}) == std::vector<std::string>{dead});
}

TEST_CASE("an MPI's stray segment is removed when nobody maps it, and no other file is") {
    const TestFolder folder;
    folder.file("mpich_shar_tmpAbCdEf", "x");
    folder.file("data", "x");
    remove_stray_segments(4e9, folder.path);  // made before the run began
    CHECK(fs::exists(folder.path + "/mpich_shar_tmpAbCdEf"));
    remove_stray_segments(0, folder.path);
    CHECK_FALSE(fs::exists(folder.path + "/mpich_shar_tmpAbCdEf"));
    CHECK(fs::exists(folder.path + "/data"));
}

TEST_CASE("a segment that a process has open or mapped stays, also where that process is not seen") {
    const bool map = GENERATE(false, true);
    CAPTURE(map);
    const TestFolder folder;
    const std::string path = folder.file("vader_segment.n1.0.1.0", "x");
    const pid_t user = fork();
    if (user == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int file = open(path.c_str(), O_RDWR);
        if (map) mmap(nullptr, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (map) close(file);
        folder.file("used", "");
        for (;;) pause();
    }
    while (!fs::exists(folder.path + "/used")) usleep(1000);
    const auto remove = [&] { remove_stray_segments(0, folder.path); };
    remove();
    CHECK(fs::exists(path));
    const bool contained = in_another_container(remove);
    CHECK(fs::exists(path));
    kill(user, SIGKILL);
    waitpid(user, nullptr, 0);
    if (contained)
        in_another_container(remove);
    else
        remove();
    CHECK_FALSE(fs::exists(path));
    if (!contained) CANNOT_TRY("no container can be made here");
}
