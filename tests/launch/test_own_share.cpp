#include <sys/stat.h>

#include "core/launch/own_share.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata::launch;

TEST_CASE("the cpu controller of version 1 is found where it is mounted, also beside an empty version 2") {
    const TestFolder folder;
    const auto cgroup = folder.file("cgroup", "5:memory:/a\n2:cpu,cpuacct:/job 7/step\n0::/\n");
    const auto mounts =
        folder.file("mounts",
                    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
                    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n");
    const auto group = own_cpu_group(cgroup, mounts);
    CHECK(group.version == 1);
    CHECK(group.folder == "/sys/fs/cgroup/cpu,cpuacct/job 7/step");
    CHECK_FALSE(group.root);
    CHECK(cgroup_parents(group) == std::vector<std::string>{group.folder});
}

TEST_CASE("in version 2 a group is made beside an unlimited own one, and never by leaving a limited one") {
    const TestFolder folder;
    const std::string own = folder.path + "/user/session";
    mkdir((folder.path + "/user").c_str(), 0755);
    mkdir(own.c_str(), 0755);
    for (const char* file : {"/cgroup.procs", "/user/cgroup.procs", "/user/session/cgroup.procs"})
        folder.file(file, "");
    folder.file("user/cgroup.subtree_control", "cpu memory\n");
    folder.file("user/session/cgroup.subtree_control", "");
    folder.file("user/session/cgroup.controllers", "cpu memory\n");
    folder.file("user/session/cpu.weight", "100\n");
    folder.file("user/session/memory.max", "max\n");
    const auto cgroup = folder.file("groups", "0::/user/session\n");
    const auto mounts = folder.file("mounts", "31 23 0:28 / " + folder.path + " rw - cgroup2 cgroup2 rw\n");
    const auto group = own_cpu_group(cgroup, mounts);
    CHECK(group.version == 2);
    CHECK_FALSE(group.root);
    CHECK(cgroup_parents(group) == std::vector<std::string>{folder.path + "/user"});
    folder.file("user/session/memory.max", "1073741824\n");
    CHECK(cgroup_parents(group).empty());
}

TEST_CASE("without a cpu controller there is no group") {
    const TestFolder folder;
    CHECK(own_cpu_group(folder.file("cgroup", ""), folder.file("mounts", "")).version == 0);
    CHECK(own_cpu_group("/nonexistent", "/nonexistent").version == 0);
}
