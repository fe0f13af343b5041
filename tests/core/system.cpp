// What a system says of memories, clocks and devices, read from trees of files.
#include <cerrno>

#include "core/machine/counters.hpp"
#include "core/machine/devices.hpp"
#include "core/machine/frequency.hpp"
#include "core/machine/memory_use.hpp"
#include "core/machine/page_placement.hpp"
#include "core/machine/sysfs.hpp"
#include "core/machine/system.hpp"
#include "tests/catch.hpp"
#include "tests/core/fake_system.hpp"

using namespace strata::machine;
using strata::tests::FakeSystem;

namespace {

Machine two_domains() { return read_machine({"synthetic:package:2 numa:1 core:2 pu:1"}); }

}  // namespace

TEST_CASE("free memory, page cache and huge pages are read memory by memory") {
    FakeSystem system;
    system
        .file("/sys/devices/system/node/node0/meminfo",
              "Node 0 MemTotal:  1000 kB\nNode 0 MemFree:  400 kB\nNode 0 FilePages:  90 kB")
        .file("/sys/devices/system/node/node1/meminfo",
              "Node 1 MemTotal:  1000 kB\nNode 1 MemFree:  10 kB\nNode 1 FilePages:  880 kB")
        .file("/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages", "2")
        .file("/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/free_hugepages", "1")
        .file("/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", "0")
        .file("/proc/meminfo", "MemTotal:  2000 kB\nCached:  5 kB\nHugepagesize:     2048 kB");
    Machine machine = two_domains();
    read_memory_use(machine, system.root());
    CHECK(machine.memories[0].free_bytes == 400 * 1024);
    CHECK(machine.memories[0].page_cache_bytes == 90 * 1024);
    CHECK(machine.memories[1].page_cache_bytes == 880 * 1024);
    CHECK(machine.memories[0].huge_pages.empty());
    REQUIRE(machine.memories[1].huge_pages.size() == 2);
    CHECK(machine.memories[1].huge_pages[0].size_bytes == 2 << 20);
    CHECK(machine.memories[1].huge_pages[1].size_bytes == 1 << 30);
    CHECK(machine.memories[1].huge_pages[1].total == 2);
    CHECK(machine.memories[1].huge_pages[1].free == 1);
    CHECK(read_huge_pages(system.root()).default_size_bytes == 2 << 20);
}

TEST_CASE("the only memory has the system's own figures, which know memory that was plugged in later") {
    FakeSystem system;
    system.file("/sys/devices/system/node/node0/meminfo", "Node 0 MemTotal: 100 kB\nNode 0 MemFree: 50 kB")
        .file("/proc/meminfo", "MemTotal: 800 kB\nMemFree: 600 kB\nCached: 70 kB");
    Machine machine = read_machine({"synthetic:core:2 pu:1"});
    read_memory_use(machine, system.root());
    CHECK(machine.memories[0].total_bytes == 800 * 1024);
    CHECK(machine.memories[0].free_bytes == 600 * 1024);
    CHECK(machine.memories[0].page_cache_bytes == 70 * 1024);
}

TEST_CASE("a memory of which the system says nothing has no figures, instead of zeros") {
    Machine machine = two_domains();
    read_memory_use(machine, "/nonexistent");
    CHECK_FALSE(machine.memories[0].free_bytes);
    CHECK_FALSE(machine.memories[0].page_cache_bytes);
    CHECK_FALSE(read_huge_pages("/nonexistent").transparent);
}

TEST_CASE("of transparent huge pages the chosen word is read") {
    FakeSystem system;
    const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
    system.file(folder + "enabled", "always madvise [never]")
        .file(folder + "shmem_enabled", "always within_size advise [deny] force");
    CHECK(read_huge_pages(system.root()).transparent == "never");
    CHECK(read_huge_pages(system.root()).shmem == "deny");
}

TEST_CASE("the word of the size itself counts for shared memory, where it does not inherit") {
    FakeSystem system;
    const std::string folder = "/sys/kernel/mm/transparent_hugepage/";
    const auto read = [&](const std::string& all, const std::string& own) {
        system.file(folder + "shmem_enabled", all).file(folder + "hugepages-2048kB/shmem_enabled", own);
        system.file("/proc/meminfo", "Hugepagesize: 2048 kB");
        return read_huge_pages(system.root()).shmem.value_or("");
    };
    CHECK(read("always within_size advise [never] deny force", "always [inherit] advise never") == "never");
    CHECK(read("always within_size advise [never] deny force", "always inherit [advise] never") == "advise");
    CHECK(read("always [advise] never", "always inherit advise [never]") == "never");
    CHECK(read("always advise never [force]", "always inherit advise [never]") == "force");
}

TEST_CASE("governor and frequencies are each core's own, and turbo is what either driver says") {
    FakeSystem system;
    const std::string cpu = "/sys/devices/system/cpu/";
    for (int core = 0; core < 4; ++core) {
        const std::string folder = cpu + "cpu" + std::to_string(core) + "/cpufreq/";
        system.file(folder + "cpuinfo_max_freq", core < 2 ? "4800000" : "3600000")
            .file(folder + "scaling_governor", core == 3 ? "powersave" : "performance");
    }
    Machine machine = two_domains();
    SECTION("Intel's switch says off") {
        system.file(cpu + "intel_pstate/no_turbo", "1");
        read_frequencies(machine, system.root());
        CHECK(machine.turbo == false);
        CHECK(machine.cores[0].max_mhz == 4800);
        CHECK(machine.cores[2].max_mhz == 3600);
        CHECK_FALSE(machine.cores[0].base_mhz);
        CHECK(machine.cores[2].governor == "performance");
        CHECK(machine.cores[3].governor == "powersave");
    }
    SECTION("the others' says on") {
        system.file(cpu + "cpufreq/boost", "1");
        read_frequencies(machine, system.root());
        CHECK(machine.turbo == true);
    }
    SECTION("nobody says anything") {
        read_frequencies(machine, "/nonexistent");
        CHECK_FALSE(machine.turbo);
        CHECK_FALSE(machine.cores[0].governor);
    }
}

TEST_CASE("GPUs and network cards have their nearest domain, and a server's console is no GPU") {
    FakeSystem system;
    const std::string pci = "/sys/devices/pci0000:80/0000:80:01.0/";
    const std::string gpu = pci + "0000:81:00.0", card = pci + "0000:82:00.0", screen = pci + "0000:83:00.0",
                      disk = pci + "0000:84:00.0";
    system.file(gpu + "/class", "0x030200").file(gpu + "/vendor", "0x10de").file(gpu + "/device", "0x2330");
    system.file(gpu + "/numa_node", "1").file(gpu + "/drm/card1/x", "").file(gpu + "/drm/renderD128/x", "");
    system.link(gpu + "/driver", "/sys/bus/pci/drivers/nvidia");
    system.file("/proc/driver/nvidia/gpus/0000:81:00.0/information", "Model: \t\t NVIDIA H200\nIRQ: 5");
    system.file(screen + "/class", "0x030000").file(screen + "/vendor", "0x1a03");
    system.file(card + "/class", "0x020000").file(card + "/numa_node", "0");
    // A virtual card's device hangs below the PCI device that knows the memory.
    system.file(card + "/virtio3/x", "").link("/sys/class/net/eth2/device", card + "/virtio3");
    system.file("/sys/class/net/eth2/speed", "25000").file("/sys/class/net/lo/speed", "");
    system.link("/sys/class/net/eth10/device", screen);
    system.link("/sys/class/infiniband/mlx5_0/device", gpu);
    system.file("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand")
        .file("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)");
    system.link("/sys/block/nvme0n1/device", disk).file("/sys/block/loop0/size", "0");
    system.file(disk + "/model", "a disk   ").file(disk + "/numa_node", "-1");
    for (const std::string& each : {gpu, screen, card})
        system.link("/sys/bus/pci/devices/" + each.substr(each.rfind('/') + 1), each);

    const std::vector<Device> found = read_devices(two_domains(), system.root());
    REQUIRE(found.size() == 5);
    CHECK(found[0].type == "gpu");
    CHECK(found[0].name == "card1");
    CHECK(found[0].info == "NVIDIA H200, driver nvidia");
    CHECK(found[0].domain == 1);
    CHECK(found[1].name == "eth2");
    CHECK(found[1].info == "25 Gbit/s");
    CHECK(found[1].domain == 0);
    CHECK(found[2].name == "eth10");
    CHECK_FALSE(found[2].domain);
    CHECK(found[3].info.find("InfiniBand, 200 Gb/sec (4X HDR)") == 0);
    CHECK(found[3].domain == 1);
    CHECK(found[4].type == "storage");
    CHECK(found[4].info == "a disk");
    CHECK_FALSE(found[4].domain);  // -1: the firmware does not say
}

TEST_CASE("a GPU without a driver is named by its place and numbers") {
    FakeSystem system;
    const std::string gpu = "/sys/devices/pci0000:00/0000:03:00.0";
    system.file(gpu + "/class", "0x120000").file(gpu + "/vendor", "0x1002").file(gpu + "/device", "0x74a1");
    system.link("/sys/bus/pci/devices/0000:03:00.0", gpu);
    const std::vector<Device> found = read_devices(read_machine({"synthetic:core:2 pu:1"}), system.root());
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "0000:03:00.0");
    CHECK(found[0].info == "AMD [1002:74a1], no driver");
    CHECK(found[0].domain == 0);
}

TEST_CASE("a container is known by its marks, and a virtual machine made from an image is none") {
    FakeSystem docker, image, podman, pod;
    docker.file("/.dockerenv", "")
        .file("/proc/self/mountinfo", "9 8 0:50 / / rw - overlay overlay rw,lowerdir=x");
    image.file("/.dockerenv", "").file("/proc/self/mountinfo", "6 1 254:0 / / rw - ext4 /dev/vda rw");
    podman.file("/run/.containerenv", "");
    pod.file("/proc/1/cgroup", "3:cpu:/kubepods/besteffort/pod1");
    CHECK(read_container(docker.root()) == "docker");
    CHECK_FALSE(read_container(image.root()));
    CHECK(read_container(podman.root()) == "podman");
    CHECK(read_container(pod.root()) == "kubepods");
    CHECK_FALSE(read_container("/nonexistent"));
}

TEST_CASE("of a file that may have no end so much is read as was asked for") {
    CHECK(read_file("/dev/zero", 5000) == std::string(5000, '\0'));
    FakeSystem system;
    system.file("/a", "word");
    CHECK(read_file(system.root() + "/a", 2) == "wo");
    CHECK(read_file(system.root() + "/a", 100) == "word");
}

TEST_CASE("a counter that does not open has its reason in words") {
    CHECK(why_not(ENOENT, 2).find("hypervisor") != std::string::npos);
    CHECK(why_not(EACCES, 4).find("perf_event_paranoid is 4") != std::string::npos);
    CHECK(why_not(EPERM, 1).find("container") != std::string::npos);
    CHECK(why_not(ENOSYS, std::nullopt).find("no perf_event_open") != std::string::npos);
}

TEST_CASE("counters and placement are tried, and what did not work has a reason") {
    const Counters counters = try_counters();
    if (!counters.hardware) CHECK_FALSE(counters.why.empty());
    if (counters.events.empty()) CHECK_FALSE((counters.software || counters.hardware));
    const PagePlacement there = try_page_placement(0);
    if (!there.mbind || !there.move_pages) CHECK_FALSE(there.why.empty());
    // No machine has a memory of this number: it must never be called placed.
    const PagePlacement nowhere = try_page_placement(1000);
    CHECK_FALSE(nowhere.mbind);
    CHECK(std::string(nowhere.word()) == "placement unverified");
    CHECK_FALSE(nowhere.why.empty());
}
