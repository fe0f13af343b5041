#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <string>

#include "core/machine/limits.hpp"
#include "core/team/arena.hpp"
#include "core/team/supply.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::team;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kMiB = 1 << 20;

std::string message_of(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.text();
    }
    return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The wait status of a process that runs `body`, and what it wrote to standard error.
std::pair<int, std::string> in_a_process(const std::function<int()>& body) {
    int ends[2];
    if (pipe(ends) != 0) return {-1, ""};
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGBUS, SIG_DFL);  // Catch2 has a handler of its own
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        _exit(body());
    }
    close(ends[1]);
    std::string text;
    char piece[512];
    for (ssize_t n = 0; (n = read(ends[0], piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(n));
    close(ends[0]);
    int status = -1;
    waitpid(pid, &status, 0);
    return {status, text};
}

void write_file(const fs::path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("an array is made by the first who asks and found by the next, zeroed and aligned") {
    Arena arena = Arena::create(256 * kMiB);
    const auto a = arena.array<double>("a", 1000);
    CHECK(a.size() == 1000);
    CHECK(std::all_of(a.begin(), a.end(), [](double x) { return x == 0; }));
    a[17] = 3.5;
    CHECK(arena.array<double>("a", 1000)[17] == 3.5);
    const auto b = arena.array<int>("b", 3 * kMiB);
    CHECK(reinterpret_cast<std::uintptr_t>(b.data()) % (2 * kMiB) == 0);
    CHECK(arena.contains(b.data()));
    CHECK_FALSE(arena.contains(&arena));
    CHECK(arena.promised() == 8192 + 12 * kMiB);
}

TEST_CASE("what is asked wrongly of an arena is said with the array's name") {
    Arena arena = Arena::create(64 * kMiB);
    static_cast<void>(arena.allocate("density", 800));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("density", 808)); }), "array density"));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("density", 808)); }),
              "800 bytes, as it was made"));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("", 8)); }), "needs a name"));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate(std::string(64, 'x'), 8)); }), "1 to 63"));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("x", 0)); }), "at least one byte"));
    CHECK(has(message_of([&] { arena.release("velocity"); }), "array velocity"));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("big", 100 * kMiB)); }),
              "address space is used up"));
    CHECK(
        has(message_of([&] { static_cast<void>(arena.allocate("x", 8, Placing::bound(1023))); }), "P#1023"));
    Arena full = Arena::create(1024 * kMiB);
    for (int i = 0; i < static_cast<int>(Arena::kMostArrays); ++i)
        static_cast<void>(full.allocate(fmt::format("n{}", i), 8));
    CHECK(has(message_of([&] { static_cast<void>(full.allocate("last", 8)); }), "8192 arrays"));
}

TEST_CASE("freed arrays give their pages back, and who gets the place next finds zeros") {
    Arena arena = Arena::create(256 * kMiB);
    const auto first = arena.array<char>("first", 8 * kMiB);
    const auto second = arena.array<char>("second", 8 * kMiB);
    std::fill(first.begin(), first.end(), 'x');
    std::fill(second.begin(), second.end(), 'y');
    const std::uint64_t before = arena.resident();
    CHECK(before >= 16 * kMiB);
    arena.release("first");
    CHECK(before - arena.resident() >= 8 * kMiB);
    const auto third = arena.array<char>("third", 4 * kMiB);
    CHECK(third.data() == first.data());
    CHECK(std::all_of(third.begin(), third.end(), [](char c) { return c == 0; }));
    CHECK(second[5] == 'y');
}

TEST_CASE(
    "a request that memory cannot cover is refused with need and supply, and so are promises that add up") {
    Arena arena = Arena::create();  // twice this machine's memory
    const std::uint64_t supply = memory_supply().bytes;
    const std::string refusal =
        message_of([&] { static_cast<void>(arena.allocate("huge", supply + supply / 4)); });
    CHECK(has(refusal, "memory does not suffice"));
    CHECK(has(refusal, "array huge"));
    CHECK(has(refusal, memory_supply().from));
    static_cast<void>(arena.allocate("half", supply * 3 / 5));  // never touched
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("other half", supply * 3 / 5)); }),
              "promised"));
    arena.release("half");
    static_cast<void>(arena.allocate("other half", supply * 3 / 5));
    CHECK(arena.resident() < 64 * kMiB);
}

TEST_CASE(
    "the supply is the least that the system and each cgroup above leave, its page cache counted as free") {
    const fs::path root = fs::temp_directory_path() / ("strata-supply-" + std::to_string(getpid()));
    const auto describe = [&](const std::string& inner_max, const std::string& outer_max) {
        write_file(root / "proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable:  4000000 kB\n");
        write_file(root / "proc/self/cgroup", "0::/job/step\n");
        write_file(root / "proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        const fs::path top = root / "sys/fs/cgroup";
        write_file(top / "cgroup.controllers", "cpu memory\n");
        write_file(top / "job/memory.max", outer_max + "\n");
        write_file(top / "job/memory.current", "600000000\n");
        write_file(top / "job/memory.stat", "anon 1\nactive_file 100000000\ninactive_file 50000000\n");
        write_file(top / "job/step/memory.max", inner_max + "\n");
        write_file(top / "job/step/memory.current", "200000000\n");
        write_file(top / "job/step/memory.stat", "inactive_file 0\n");
        return memory_supply(root);
    };
    CHECK(describe("max", "max").bytes == 4000000ULL * 1024);
    CHECK(describe("1000000000", "max").bytes == 800000000);
    CHECK(describe("1000000000", "max").from == "left in the cgroup /job/step");
    CHECK(describe("1000000000", "1000000000").bytes == 550000000);
    CHECK(describe("1000000000", "1000000000").from == "left in the cgroup /job");
    CHECK(describe("1000", "max").bytes == 0);
    write_file(root / "sys/devices/system/node/node1/meminfo",
               "Node 1 MemFree: 1000 kB\nNode 1 Active(file): 20 kB\nNode 1 Inactive(file): 3 kB\n");
    CHECK(supply_of_memory(1, root) == 1023 * 1024);
    CHECK_FALSE(supply_of_memory(2, root));
    fs::remove_all(root);
}

TEST_CASE("an array is divided among owners on page borders, nearest to where the owner changes") {
    const auto parts = parts_of(Placing::blocked({0, 1, 0, 3}), 40'000, 4096);
    REQUIRE(parts.size() == 4);
    CHECK(parts[0].begin == 0);
    CHECK(parts[1].begin == 8192);   // 10000
    CHECK(parts[2].begin == 20480);  // 20000
    CHECK(parts[3].begin == 28672);  // 30000
    CHECK(parts[3].end == 40960);
    CHECK(parts[3].memories == std::vector<int>{3});
    // Fewer pages than owners: some have none, none is in two memories.
    std::size_t covered = 0;
    for (const Part& part : parts_of(Placing::blocked(std::vector<int>(64, 0)), 3 * 4096, 4096)) {
        CHECK(part.begin == covered);
        covered = part.end;
    }
    CHECK(covered == 3 * 4096);
    CHECK(parts_of(Placing::first_touch(), 4096, 4096).empty());
    CHECK(parts_of(Placing::bound(2), 5000, 4096).front().end == 8192);
}

TEST_CASE("every placement is taken by the kernel and holds readable zeros") {
    Arena arena = Arena::create(256 * kMiB);
    int number = 0;
    for (const Placing& placing :
         {Placing::first_touch(), Placing::interleave(), Placing::bound(0), Placing::blocked({0, 0, 0})})
        for (const std::size_t size : {std::size_t{5000}, std::size_t{5 * kMiB}}) {
            const auto data = arena.array<char>(fmt::format("a{}", ++number), size, placing);
            CHECK(data.front() == 0);
            CHECK(data.back() == 0);
        }
}

TEST_CASE("another process finds the arena at the same address, or says that it cannot") {
    Arena arena = Arena::create(64 * kMiB);
    const auto data = arena.array<int>("x", 10);
    data[3] = 42;
    const std::uintptr_t address = arena.address();
    const int descriptor = dup(arena.descriptor());
    // In this process the place is taken: by the arena itself.
    CHECK_FALSE(Arena::join(descriptor, address, 64 * kMiB));
    CHECK_FALSE(Arena::join(descriptor, std::uintptr_t{1} << 62U, 64 * kMiB));  // which no processor has
    const auto [status, text] = in_a_process([&] {
        munmap(reinterpret_cast<void*>(address), 64 * kMiB);
        std::optional<Arena> joined = Arena::join(descriptor, address, 64 * kMiB);
        if (!joined || data[3] != 42) return 1;
        data[4] = 43;
        return joined->array<int>("x", 10).data() == data.data() ? 0 : 2;
    });
    CHECK(status == 0);
    CHECK(data[4] == 43);
    CHECK(arena.move_on());
    CHECK(arena.address() != address);
    CHECK(arena.array<int>("x", 10)[4] == 43);
    close(descriptor);
}

TEST_CASE("a page that cannot be had ends the process by SIGBUS with the array's name") {
    Arena arena = Arena::create(64 * kMiB);
    const auto x = arena.array<char>("temperature", 64 * 1024);
    char note[200] = "";
    const auto [status, text] = in_a_process([&] {
        explain_faults(arena, nullptr);
        // What a full cgroup or an empty pool does at a bad moment: the file cannot give the page.
        if (ftruncate(arena.descriptor(), static_cast<off_t>(reinterpret_cast<std::uintptr_t>(x.data()) -
                                                             arena.address() + 4096)) != 0)
            return 1;
        static_cast<volatile char*>(x.data())[8192] = 1;
        return 0;
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGBUS);
    CHECK(has(text, "array 'temperature', byte 8192 of 65536"));
    arena.describe(x.data() + 64 * 1024 + 8, note, sizeof note);
    CHECK(std::string(note) == "the arena, 8 bytes beyond the end of array 'temperature'");
    arena.describe(x.data() + 5, note, sizeof note);
    CHECK(std::string(note) == "array 'temperature', byte 5 of 65536");
}

TEST_CASE("a fault elsewhere is left to who handled it before", "[native]") {
    Arena arena = Arena::create(64 * kMiB);
    const auto [status, text] = in_a_process([&] {
        explain_faults(arena, nullptr);
        const int file = memfd_create("elsewhere", 0);
        auto* data =
            static_cast<volatile char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        data[0] = 1;  // beyond the end of an empty file
        return 0;
    });
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGBUS);
    CHECK(text.empty());
}

TEST_CASE("the memory near a PU is its domain's, or the nearest that may be used") {
    const fs::path root = fs::temp_directory_path() / ("strata-near-" + std::to_string(getpid()));
    for (int pu = 0; pu < 4; ++pu)
        fs::create_directories(root / fmt::format("sys/devices/system/cpu/cpu{}/node{}", pu, pu / 2 * 2));
    write_file(root / "sys/devices/system/node/node0/distance", "10 20 12\n");
    write_file(root / "sys/devices/system/node/node1/distance", "20 10 15\n");
    write_file(root / "sys/devices/system/node/node2/distance", "12 15 10\n");
    const auto allow = [&](const std::string& list) {
        write_file(root / "proc/self/status", "Name: x\nMems_allowed_list:\t" + list + "\n");
    };
    allow("0-2");
    CHECK(memory_near(1, root.string()) == 0);
    CHECK(memory_near(2, root.string()) == 2);
    allow("0-1");
    CHECK(memory_near(2, root.string()) == 0);
    allow("1");
    CHECK(memory_near(0, root.string()) == 1);
    fs::remove_all(root);
    // Of this system: some memory that may be used, for each member of a layout.
    launch::Placement placement;
    placement.threads = {{machine::own_affinity()}, {machine::own_affinity()}};
    for (const int memory : memories_of_members(placement))
        CHECK_NOTHROW(static_cast<void>(settled(Placing::bound(memory), "x")));
}

TEST_CASE("an array that was touched is laid on huge pages, and holds what it held") {
    Arena arena = Arena::create(64 * kMiB);
    const auto data = arena.array<std::uint64_t>("x", 6 * kMiB / sizeof(std::uint64_t));
    std::iota(data.begin(), data.end(), std::uint64_t{7});
    const std::uint64_t before = arena.resident();
    const std::size_t huge = collapse_pages(data.data() + 1, 6 * kMiB - 8);
    // None on an older kernel, or while no huge page is free; never more than the whole units inside.
    CHECK(huge <= 4 * kMiB);
    CHECK(huge % (2 * kMiB) == 0);
    CHECK(arena.resident() == before);
    std::uint64_t expected = 7;
    for (const std::uint64_t value : data) REQUIRE(value == expected++);
    CHECK(collapse_pages(data.data(), kMiB) == 0);
}

TEST_CASE("an array that nobody has touched begins on huge pages, and holds zeros", "[native]") {
    Arena arena = Arena::create(64 * kMiB);
    const auto data = arena.array<std::uint64_t>("x", 6 * kMiB / sizeof(std::uint64_t));
    const std::uint64_t before = arena.resident();
    const std::size_t huge = begin_on_huge_pages(data.data() + 1, 6 * kMiB - 8);
    CHECK(huge <= 4 * kMiB);
    CHECK(huge % (2 * kMiB) == 0);
    CHECK(arena.resident() >= before + huge);
    CHECK(arena.resident() <= before + 4 * kMiB);
    for (const std::uint64_t value : data) REQUIRE(value == 0);
    CHECK(begin_on_huge_pages(data.data(), kMiB) == 0);
}

TEST_CASE("as many owners as the table holds, and room again when their arrays are released") {
    Arena arena = Arena::create(64 * kMiB);
    const std::vector<int> many(40'000, settled(Placing::interleave(), "x").memories.front());
    static_cast<void>(arena.allocate("a", kMiB, Placing::blocked(many)));
    CHECK(has(message_of([&] { static_cast<void>(arena.allocate("b", kMiB, Placing::blocked(many))); }),
              "no room for the owners"));
    static_cast<void>(arena.allocate("c", kMiB, Placing::bound(many.front())));
    arena.release("a");
    static_cast<void>(arena.allocate("b", kMiB, Placing::blocked(many)));
}

TEST_CASE("whether shared memory gets huge pages is read from the system's settings") {
    const fs::path root = fs::temp_directory_path() / ("strata-huge-" + std::to_string(getpid()));
    const fs::path folder = root / "sys/kernel/mm/transparent_hugepage";
    CHECK(has(why_no_huge_pages(root), "has no huge pages"));
    write_file(folder / "shmem_enabled", "always within_size advise [never] deny force\n");
    CHECK(has(why_no_huge_pages(root), "shmem_enabled is \"never\""));
    write_file(folder / "shmem_enabled", "always within_size [advise] never deny force\n");
    CHECK(why_no_huge_pages(root).empty());
    write_file(folder / "hugepages-2048kB/shmem_enabled", "always inherit within_size advise [never]\n");
    CHECK(has(why_no_huge_pages(root), "hugepages-2048kB"));
    write_file(folder / "shmem_enabled", "always within_size advise [never] deny force\n");
    write_file(folder / "hugepages-2048kB/shmem_enabled", "always inherit within_size [advise] never\n");
    CHECK(why_no_huge_pages(root).empty());
    write_file(folder / "shmem_enabled", "always within_size advise never [deny] force\n");
    CHECK(has(why_no_huge_pages(root), "\"deny\""));
    fs::remove_all(root);
}
