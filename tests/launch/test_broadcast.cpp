// What --bcast leaves to others on a node: nothing. Slurm's commands are scripts here that do on this machine
// what Slurm does on each node of a job.
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/launch/broadcast.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata;
using namespace strata::launch;
namespace fs = std::filesystem;

namespace {

constexpr unsigned kNobody = 65534;

/// A job of one node, whose Slurm is a folder of scripts at the front of PATH.
struct JobOfOneNode : TestFolder {
    JobOfOneNode() {
        tool("srun",
             "while [ \"$1\" != sh ]; do shift; done\n"
             "trap 'kill -USR1 $holder' USR1\n\"$@\" & holder=$!\n"
             "while kill -0 $holder 2>/dev/null; do wait $holder; done");
        tool("sbcast", "mkdir \"$4_libs\"; exec cp \"$3\" \"$4\"");
        tool("scancel", ":");
        setenv("PATH", (path + ":" + was).c_str(), 1);
        for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_STEP_ID"})
            setenv(name, "1", 1);
        for (const char* name : {"node", "scratch"}) fs::create_directory(path + "/" + name);
    }
    ~JobOfOneNode() {
        setenv("PATH", was.c_str(), 1);
        for (const char* name : {"SLURM_JOB_ID", "SLURM_JOB_NUM_NODES", "SLURM_STEP_ID"}) unsetenv(name);
    }
    void tool(const std::string& name, const std::string& script) const {
        chmod(file(name, "#!/bin/sh\n" + script + "\n").c_str(), 0755);
    }
    [[nodiscard]] Broadcast sent() const { return {"/bin/true", path + "/node", path + "/scratch"}; }
    std::string was = getenv("PATH");
};

mode_t mode_of(const std::string& path) {
    struct stat about {};
    return lstat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}

/// Whether another user, where this one can become it, may do something.
bool stranger_may(const std::string& path, int how) {
    const pid_t child = fork();
    if (child == 0)
        _exit(setresuid(kNobody, kNobody, kNobody) == 0 && access(path.c_str(), how) == 0 ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
}

}  // namespace

TEST_CASE("a program is sent to a folder which nobody could foresee and nobody else may look into",
          "[native]") {
    const JobOfOneNode job;
    chmod(job.path.c_str(), 0755);
    chmod((job.path + "/node").c_str(), 01777);
    std::string first;
    for (int turn = 0; turn < 2; ++turn) {
        const Broadcast broadcast = job.sent();
        const std::string place = fs::path(broadcast.copy()).parent_path();
        CHECK(fs::path(place).parent_path() == job.path + "/node");
        CHECK(fs::exists(broadcast.copy()));
        CHECK(mode_of(place) == 0700);
        CHECK(place != first);  // of one run's scratch folder
        first = place;
        CHECK(fs::path(broadcast.libraries().value).string().starts_with(place + "/"));
        if (geteuid() == 0) {
            CHECK(stranger_may(job.path + "/node", W_OK));
            CHECK_FALSE(stranger_may(place, X_OK));
        }
    }
    CHECK(fs::is_empty(job.path + "/node"));
}

TEST_CASE("no program is sent to a folder in which others can replace what is not theirs", "[native]") {
    const JobOfOneNode job;
    const std::string node = job.path + "/node";
    SECTION("everybody may write there, and it is not sticky") { chmod(node.c_str(), 0777); }
    SECTION("it is another user's") {
        if (geteuid() != 0) return;
        REQUIRE(chown(node.c_str(), kNobody, kNobody) == 0);
    }
    try {
        const Broadcast broadcast = job.sent();
        FAIL("it was sent");
    } catch (const Error& error) {
        CHECK(error.message() == "the program could not be sent to the nodes");
        CHECK(error.given().find("others can replace what is in " + node) != std::string::npos);
    }
    CHECK(fs::is_empty(node));
}
