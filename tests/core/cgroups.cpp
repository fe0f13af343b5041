// Limits are read from trees of files that stand for other systems' /proc and /sys.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/machine/cgroup.hpp"
#include "tests/catch.hpp"

using namespace strata::machine;
namespace fs = std::filesystem;

namespace {

class FakeSystem {
  public:
    FakeSystem() {
        std::string pattern = (fs::temp_directory_path() / "strata-cgroups-XXXXXX").string();
        root_ = mkdtemp(pattern.data());
    }
    ~FakeSystem() { fs::remove_all(root_); }
    FakeSystem(const FakeSystem&) = delete;
    FakeSystem& operator=(const FakeSystem&) = delete;

    FakeSystem& file(const std::string& path, const std::string& text) {
        fs::create_directories(fs::path(root_ + path).parent_path());
        std::ofstream(root_ + path) << text << '\n';
        return *this;
    }
    [[nodiscard]] const std::string& root() const { return root_; }

  private:
    std::string root_;
};

constexpr const char* kMountV2 = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw";

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

TEST_CASE("without cgroups there are no limits and no complaint") {
    const Cgroup cgroup = read_cgroup("/nonexistent");
    CHECK_FALSE(cgroup.version);
    CHECK_FALSE(cgroup.cpu_quota);
    CHECK_FALSE(cgroup.memory_limit_bytes);
}
