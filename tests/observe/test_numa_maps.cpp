#include <sys/mman.h>
#include <unistd.h>

#include <sstream>

#include "core/machine/machine.hpp"
#include "core/machine/numa_maps.hpp"
#include "core/observe/report.hpp"
#include "core/observe/snapshot.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::machine;
using namespace strata::observe;

namespace {

// A program on a machine of four memories, as the kernel writes it.
constexpr const char* kMaps =
    "00400000-00401000 r--p 00000000 00:01 7    /opt/my solver\n"
    "00401000-00480000 r-xp 00001000 00:01 7    /opt/my solver\n"
    "01b2c000-01b4d000 rw-p 00000000 00:00 0    [heap]\n"
    "7f0000000000-7f0008000000 rw-p 00000000 00:00 0 \n"
    "7f0010000000-7f0010200000 rw-s 00000000 00:0e 9    /dev/shm/team\n"
    "7f0020000000-7f0020178000 r-xp 00028000 00:01 8    /lib/libc.so.6\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0    [stack]\n"
    "7ffc00100000-7ffc00104000 r--p 00000000 00:00 0    [vvar]\n";
constexpr const char* kNumaMaps =
    "00400000 default file=/opt/my\\040solver mapped=1 N2=1 kernelpagesize_kB=4\n"
    "00401000 default file=/opt/my\\040solver mapped=100 mapmax=4 N2=60 N3=40 kernelpagesize_kB=4\n"
    "01b2c000 bind:0-1 heap anon=8 dirty=8 N0=5 N1=3 kernelpagesize_kB=4\n"
    "7f0000000000 interleave:0-3 anon=64 dirty=64 N0=16 N1=16 N2=16 N3=16 kernelpagesize_kB=2048\n"
    "7f0010000000 default file=/dev/shm/team dirty=512 N1=512 kernelpagesize_kB=4\n"
    "7f0020000000 default file=/lib/libc.so.6 mapped=200 mapmax=30 N3=200 kernelpagesize_kB=4\n"
    "7ffc00000000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n";

const Region& at(const std::vector<Region>& regions, std::uint64_t begin) {
    for (const Region& region : regions)
        if (region.begin == begin) return region;
    throw std::runtime_error("no such region");
}

machine::Machine four_domains() {
    return machine::read_machine(
        {.text = "synthetic:numa:4 core:2 pu:1", .with_devices = false, .with_limits = false});
}

}  // namespace

TEST_CASE("numa_maps is read with its policies, kinds and page sizes") {
    const auto regions = read_numa_maps(kNumaMaps, kMaps, "/opt/my solver");
    REQUIRE(regions.size() == 7);
    CHECK(at(regions, 0x400000).kind == Kind::file);
    const Region& text = at(regions, 0x401000);
    CHECK(text.kind == Kind::program_text);
    CHECK(text.file == "/opt/my solver");
    CHECK(text.end == 0x480000);
    CHECK(text.bytes == ByMemory{{2, 60 * 4096}, {3, 40 * 4096}});
    CHECK(at(regions, 0x1b2c000).kind == Kind::heap);
    CHECK(at(regions, 0x1b2c000).policy == "bind:0-1");
    const auto explicit_huge = read_numa_maps(
        "7f0030000000 default file=/anon_hugepage\\040(deleted) huge anon=2 dirty=2 N1=2 "
        "kernelpagesize_kB=2048\n",
        "", "");
    CHECK(explicit_huge.at(0).kind == Kind::anonymous);
    CHECK(explicit_huge.at(0).bytes == ByMemory{{1, 2 * 2048 * 1024}});
    const Region& huge = at(regions, 0x7f0000000000);
    CHECK(huge.kind == Kind::anonymous);
    CHECK(huge.page_bytes == 2 << 20);
    CHECK(total(huge.bytes) == 64UL << 21);
    CHECK(at(regions, 0x7f0010000000).kind == Kind::shared);
    CHECK(at(regions, 0x7f0020000000).kind == Kind::library_text);
    CHECK(at(regions, 0x7ffc00000000).kind == Kind::stack);
    CHECK(sum(regions).at(3) == (40 + 200) * 4096 + (16UL << 21));
}

TEST_CASE("numa_maps alone, damaged or empty, is read as far as it goes") {
    CHECK(total(sum(read_numa_maps(kNumaMaps, "", ""))) == total(sum(read_numa_maps(kNumaMaps, kMaps, ""))));
    CHECK(read_numa_maps("", "", "").empty());
    const std::string text = kNumaMaps;
    for (size_t length = 0; length < text.size(); length += 3)
        CHECK(read_numa_maps(text.substr(0, length), kMaps, "").size() <= 7);
}

TEST_CASE("pages that are asked one by one are those that were touched, also in a sample") {
    constexpr std::uint64_t pages = 512;
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    auto* memory = static_cast<char*>(
        mmap(nullptr, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    madvise(memory, pages * page, MADV_NOHUGEPAGE);
    for (std::uint64_t i = 0; i < pages / 2; ++i) memory[i * page] = 1;
    Region region;
    region.begin = reinterpret_cast<std::uint64_t>(memory);
    region.end = region.begin + pages * page;
    std::vector<Region> all = {region};
    const auto whole = ask_pages(getpid(), all, pages);
    if (!whole) CANNOT_TRY("move_pages is refused here");
    CHECK(*whole == 1.0);
    CHECK(total(all.front().bytes) == pages / 2 * page);
    const auto sample = ask_pages(getpid(), all, pages / 8);
    REQUIRE(sample);
    CHECK(*sample == 0.125);
    CHECK(total(all.front().bytes) == pages / 2 * page);
    munmap(memory, pages * page);
}

TEST_CASE("local is what lies in the memories of the domains that threads are on") {
    Process process;
    process.regions = read_numa_maps(kNumaMaps, kMaps, "/opt/my solver");
    process.pages_read = true;
    process.program = "/opt/my solver";
    process.threads = {{1, "a", {0}, 0, 1.0, 3, 0, 0}, {2, "b", {0}, 2, 1.0, 4, 0, 0}};
    const machine::Machine machine = four_domains();
    const PlacementSummary p = placement_summary(process, machine);
    CHECK(p.domains == std::vector<int>{0, 1});
    CHECK(p.migrations == 7);
    CHECK(p.sharing == 2);
    const ByMemory all = sum(process.regions);
    CHECK(p.local == all.at(0) + all.at(1));
    const std::string text = table({process}, machine, {});
    CHECK(text.find("program text") != std::string::npos);
    CHECK(text.find("interleave:0-3") != std::string::npos);
    CHECK(text.find("2 threads are held on a PU together") != std::string::npos);
    std::ostringstream json;
    where_json(json, {process}, machine);
    CHECK(json.str().find("\"schema\":\"strata.where/1\"") != std::string::npos);
    CHECK(json.str().find("\"policy\":\"bind:0-1\"") != std::string::npos);
}

TEST_CASE("many processes are a line each, launchers apart") {
    std::vector<Process> processes(70);
    for (size_t i = 0; i < processes.size(); ++i) {
        processes[i].pid = 100 + static_cast<int>(i);
        processes[i].program = i == 0 ? "/usr/bin/mpirun" : "/opt/solver";
        processes[i].threads = {
            {100 + static_cast<int>(i), "a", {0}, 0, 0.01 * static_cast<double>(i), {}, 0, 0}};
    }
    const std::string text = table(processes, four_domains(), {});
    CHECK(text.find("and 5 processes that computed less") != std::string::npos);
    CHECK(text.find("and 1 launchers (--all)") != std::string::npos);
    CHECK(text.find("mpirun") == std::string::npos);
    CHECK(table(processes, four_domains(), {.all = true, .most = 100}).find("mpirun") != std::string::npos);
}
