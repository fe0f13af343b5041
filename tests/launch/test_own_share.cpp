#include <sys/stat.h>

#include "core/launch/control_groups.hpp"
#include "core/launch/own_share.hpp"
#include "tests/catch.hpp"
#include "tests/launch/folder.hpp"

using namespace strata::launch;

namespace {

/// A folder that stands for "/": its /proc says where this process is, and cgroup trees lie below.
struct Tree : TestFolder {
    Tree(const std::string& groups, const std::string& mounts) {
        for (const char* made : {"/proc", "/proc/self"}) mkdir((path + made).c_str(), 0755);
        file("proc/self/cgroup", groups);
        file("proc/self/mountinfo", mounts);
    }
    void folder(const std::string& name) const { mkdir((path + "/" + name).c_str(), 0755); }
};

}  // namespace

TEST_CASE("the controller of version 1 is found where it is mounted, also beside an empty version 2") {
    const Tree tree("5:memory:/a\n2:cpu,cpuacct:/job 7/step\n0::/\n",
                    "31 23 0:28 / /groups rw - tmpfs tmpfs rw\n"
                    "32 31 0:29 / /groups/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n");
    CHECK(group_parents("cpu", tree.path) ==
          std::vector<std::string>{tree.path + "/groups/cpu,cpuacct/job 7/step"});
    CHECK(group_parents("memory", tree.path).empty());
    CHECK_FALSE(in_root_cpu_group(tree.path));
}

TEST_CASE("in version 2 a group is made beside an unlimited own one, and never by leaving a limited one") {
    const Tree tree("0::/user/session\n", "31 23 0:28 / /groups rw - cgroup2 cgroup2 rw\n");
    for (const char* name : {"groups", "groups/user", "groups/user/session"}) tree.folder(name);
    tree.file("groups/cgroup.controllers", "cpu memory\n");
    tree.file("groups/user/cgroup.subtree_control", "cpu memory\n");
    tree.file("groups/user/session/cgroup.subtree_control", "");
    tree.file("groups/user/session/cpu.weight", "100\n");
    tree.file("groups/user/session/memory.max", "max\n");
    CHECK_FALSE(in_root_cpu_group(tree.path));
    CHECK(group_parents("cpu", tree.path) == std::vector<std::string>{tree.path + "/groups/user"});
    CHECK(group_parents("cpuset", tree.path).empty());
    tree.file("groups/user/session/memory.max", "1073741824\n");
    CHECK(group_parents("cpu", tree.path).empty());
}

TEST_CASE("without a controller there is no group, and a run says what was tried") {
    const Tree tree("", "");
    CHECK(group_parents("cpu", tree.path).empty());
    RunGroups groups("strata-test");
    std::string why;
    CHECK_FALSE(groups.make({"no-such-controller"}, why));
    CHECK(why.find("no no-such-controller controller is mounted here") != std::string::npos);
    CHECK(groups.folder("no-such-controller").empty());
}
