// Limits are read from trees of files that stand for other systems' /proc and /sys.
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/machine/cgroup.hpp"
#include "core/machine/limits.hpp"
#include "tests/catch.hpp"
#include "tests/core/fake_system.hpp"

using namespace strata::machine;
using strata::tests::FakeSystem;

namespace {

constexpr const char* kMountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw";

std::vector<int> first_pus(int count) {
    std::vector<int> pus(static_cast<size_t>(count));
    std::iota(pus.begin(), pus.end(), 0);
    return pus;
}

}  // namespace

TEST_CASE("a version 2 quota turns 64 visible cores into 4, also when an ancestor sets it") {
    FakeSystem system;
    system.file("/proc/self/mountinfo", kMountV2)
        .file("/proc/self/cgroup", "0::/user.slice/job_7")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids")
        .file("/sys/fs/cgroup/user.slice/cpu.max", "400000 100000")
        .file("/sys/fs/cgroup/user.slice/job_7/cpu.max", "max 100000")
        .file("/sys/fs/cgroup/user.slice/job_7/cpuset.cpus.effective", "0-63");
    const Cgroup cgroup = read_cgroup(system.root());
    CHECK(cgroup.version == 2);
    REQUIRE(cgroup.cpu_quota);
    CHECK(*cgroup.cpu_quota == 4.0);
    CHECK(cgroup.cpuset == "0-63");
    CHECK(cgroup.path == "/user.slice/job_7");
    const Allowed allowed = read_allowed(first_pus(64), system.root());
    CHECK(allowed.pus.size() == 64);
    CHECK(allowed.cpus_effective == 4.0);
}

TEST_CASE("a quota larger than the affinity changes nothing, and a part of a CPU is kept") {
    FakeSystem system;
    system.file("/proc/self/mountinfo", kMountV2)
        .file("/proc/self/cgroup", "0::/job")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpu")
        .file("/sys/fs/cgroup/job/cpu.max", "150000 100000");
    CHECK(read_allowed(first_pus(1), system.root()).cpus_effective == 1.0);
    CHECK(read_allowed(first_pus(8), system.root()).cpus_effective == 1.5);
}

TEST_CASE("whatever the quotas along a path are, the smallest holds and no descendant loosens it") {
    for (unsigned seed = 1; seed <= 40; ++seed) {
        FakeSystem system;
        system.file("/proc/self/mountinfo", kMountV2).file("/sys/fs/cgroup/cgroup.controllers", "cpu");
        unsigned state = seed;
        std::string path;
        double least = 64;
        for (unsigned depth = 0; depth < 1 + seed % 5; ++depth) {
            state = state * 1664525U + 1013904223U;
            path += "/g" + std::to_string(depth);
            const unsigned quota = 10000 * (1 + (state >> 24));  // 0.1 to 25.6 CPUs
            const bool none = (state >> 16) % 3 == 0;
            system.file("/sys/fs/cgroup" + path + "/cpu.max",
                        none ? "max 100000" : std::to_string(quota) + " 100000");
            if (!none) least = std::min(least, quota / 100000.0);
        }
        system.file("/proc/self/cgroup", "0::" + path);
        INFO(path << " seed " << seed);
        CHECK(read_allowed(first_pus(64), system.root()).cpus_effective == Approx(least));
    }
}

TEST_CASE("the memories of /proc/self/status are those allowed") {
    FakeSystem system;
    system.file("/proc/self/status", "Name:\tx\nMems_allowed:\t0000000d\nMems_allowed_list:\t0,2-3");
    CHECK(read_allowed(first_pus(2), system.root()).memories == std::vector<int>{0, 2, 3});
    CHECK(read_allowed(first_pus(2), "/nonexistent").memories.empty());
}

TEST_CASE("a session's weight may be raised with CAP_SYS_NICE, which root in a container may lack") {
    FakeSystem with, without;
    for (FakeSystem* each : {&with, &without}) each->file("/proc/sys/kernel/sched_autogroup_enabled", "1");
    with.file("/proc/self/status", "CapEff:\t0000000000800000");
    without.file("/proc/self/status", "CapEff:\t00000000a80425fb");  // a container's usual set
    CHECK(read_privileges(with.root()).autogroup_nice);
    CHECK_FALSE(read_privileges(without.root()).autogroup_nice);
    CHECK(read_privileges(without.root()).autogroup);
    CHECK_FALSE(read_privileges("/nonexistent").autogroup);
}

TEST_CASE("in version 2 a cgroup can be made where the controller is handed down") {
    FakeSystem system;
    system.file("/proc/self/mountinfo", kMountV2)
        .file("/proc/self/cgroup", "0::/user/shell")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu")
        .file("/sys/fs/cgroup/user/cgroup.subtree_control", "cpu")
        .file("/sys/fs/cgroup/user/shell/cgroup.subtree_control", "");
    CHECK(read_privileges(system.root()).cgroup_cpu_writable);
    CHECK_FALSE(read_privileges(system.root()).cgroup_cpuset_writable);
}

TEST_CASE("the smallest memory limit along the path counts") {
    FakeSystem system;
    system.file("/proc/self/mountinfo", kMountV2)
        .file("/proc/self/cgroup", "0::/a/b")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpu memory")
        .file("/sys/fs/cgroup/a/memory.max", "1073741824")
        .file("/sys/fs/cgroup/a/b/memory.max", "4294967296");
    CHECK(read_cgroup(system.root()).memory_limit_bytes == 1073741824);
}

TEST_CASE("version 1 is read controller by controller, and its way of saying no limit is no limit") {
    FakeSystem system;
    system
        .file("/proc/self/mountinfo",
              "31 23 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
              "32 23 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
              "33 23 0:29 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset")
        .file("/proc/self/cgroup", "4:cpu,cpuacct:/slurm/job\n3:memory:/slurm/job\n2:cpuset:/slurm/job\n0::/")
        .file("/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_quota_us", "250000")
        .file("/sys/fs/cgroup/cpu,cpuacct/slurm/job/cpu.cfs_period_us", "100000")
        .file("/sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "9223372036854771712")
        .file("/sys/fs/cgroup/cpuset/slurm/job/cpuset.cpus", "8-11")
        .file("/sys/fs/cgroup/cpuset/slurm/job/cpuset.mems", "1");
    const Cgroup cgroup = read_cgroup(system.root());
    CHECK(cgroup.version == 1);
    CHECK(cgroup.cpu_quota == 2.5);
    CHECK_FALSE(cgroup.memory_limit_bytes);
    CHECK(cgroup.cpuset == "8-11");
    CHECK(cgroup.mems == "1");
}

TEST_CASE("beside version 1, version 2 holds only what it offers") {
    FakeSystem system;
    system
        .file("/proc/self/mountinfo",
              "31 23 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
              "34 23 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw")
        .file("/proc/self/cgroup", "1:cpu:/\n0::/")
        .file("/sys/fs/cgroup/unified/cgroup.controllers", "memory")
        .file("/sys/fs/cgroup/unified/memory.max", "1048576")
        .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1")
        .file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    const Cgroup cgroup = read_cgroup(system.root());
    CHECK_FALSE(cgroup.cpu_quota);
    CHECK(cgroup.memory_limit_bytes == 1048576);
    CHECK(find_controller("cpu", system.root()).version == 1);
    CHECK(find_controller("memory", system.root()).version == 2);
    CHECK(find_controller("cpuset", system.root()).version == 0);
}

TEST_CASE("in a container the mount's root is taken off the path") {
    FakeSystem system;
    system.file("/proc/self/mountinfo", "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup ro")
        .file("/proc/self/cgroup", "0::/docker/abc")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpu")
        .file("/sys/fs/cgroup/cpu.max", "150000 100000");
    CHECK(read_cgroup(system.root()).cpu_quota == 1.5);
}

TEST_CASE("a mount's root that only begins like the path is not taken off it") {
    FakeSystem system;
    system.file("/proc/self/mountinfo", "30 23 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup ro")
        .file("/proc/self/cgroup", "0::/docker/abc")
        .file("/sys/fs/cgroup/cgroup.controllers", "cpu")
        .file("/sys/fs/cgroup/c/cpu.max", "150000 100000");
    CHECK_FALSE(read_cgroup(system.root()).cpu_quota);
}

TEST_CASE("without cgroups there are no limits and no complaint") {
    const Cgroup cgroup = read_cgroup("/nonexistent");
    CHECK_FALSE(cgroup.version);
    CHECK_FALSE(cgroup.cpu_quota);
    CHECK_FALSE(cgroup.memory_limit_bytes);
}
