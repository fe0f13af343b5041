#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>

#include "core/launch/page_promise.hpp"
#include "core/launch/page_readback.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/verdict.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::launch;
using machine::ByMemory;
using machine::Kind;
using machine::Region;

namespace {

constexpr std::uint64_t kMiB = 1 << 20, kGrain = 2 * kMiB;

/// Two processes of two threads, one a domain of two cores, on four domains.
Placement laid_out(const char* memory) {
    const auto machine = machine::read_machine(
        {.text = "synthetic:numa:4 core:2 pu:1", .with_devices = false, .with_limits = false});
    Wish wish;
    wish.layout = parse_layout("2x2");
    if (*memory != '\0') wish.memory = parse_memory(memory);
    return place(machine, wish);
}

std::optional<std::string> disagreement(const char* memory, int rank, const ByMemory& bytes) {
    const auto promise = promised_pages(laid_out(memory), rank);
    REQUIRE(promise);
    return find_page_disagreement(rank, bytes, *promise, kGrain);
}

Region region(Kind kind, int memory, std::uint64_t bytes) {
    Region r;
    r.kind = kind;
    r.bytes[memory] = bytes;
    return r;
}

/// A process that only waits.
class Waiting {
  public:
    Waiting() : pid_(fork()) {
        if (pid_ == 0) {
            pause();
            _exit(0);
        }
    }
    ~Waiting() {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;
    [[nodiscard]] int pid() const { return pid_; }

  private:
    int pid_;
};

Record read_back(std::optional<bool> threads, const char* verdict, std::optional<bool> pages) {
    Record r;
    r.placement = laid_out("bind:1");
    r.threads_agree = threads;
    r.pages.verdict = verdict;
    r.pages.agrees = pages;
    r.pages.processes = 2;
    return r;
}

}  // namespace

TEST_CASE("a policy promises the memories it names, first touch those of the process' own domains") {
    CHECK_FALSE(promised_pages(laid_out(""), 0));
    CHECK(promised_pages(laid_out("bind:3,1"), 1)->memories == std::vector<int>{1, 3});
    CHECK(promised_pages(laid_out("local"), 1)->memories == std::vector<int>{1});
    CHECK(promised_pages(laid_out("first-touch"), 1)->memories == std::vector<int>{1});
    const auto dealt = promised_pages(laid_out("interleave"), 0);
    CHECK(dealt->memories == std::vector<int>{0, 1});
    CHECK(dealt->evenly);
    // Ranks of other nodes are not this placement's.
    CHECK_FALSE(promised_pages(laid_out("local"), 2));
}

TEST_CASE("unbound threads touch first wherever they are, so any memory keeps the promise") {
    const auto machine = machine::read_machine(
        {.text = "synthetic:numa:4 core:2 pu:1", .with_devices = false, .with_limits = false});
    Wish wish;
    wish.layout = parse_layout("2x2");
    wish.layout.bind = Bind::none;
    wish.memory = parse_memory("first-touch");
    CHECK(promised_pages(place(machine, wish), 1)->memories == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("pages in the promised memories agree, and a few strays of hwloc's visits do") {
    CHECK_FALSE(disagreement("bind:1", 0, {{1, 64 * kMiB}}));
    CHECK_FALSE(disagreement("bind:1", 0, {{1, 64 * kMiB}, {3, kMiB}}));
    CHECK_FALSE(disagreement("local", 1, {{1, kMiB / 2}, {0, kMiB / 8}}));
    CHECK_FALSE(disagreement("bind:1", 0, {}));
}

TEST_CASE("pages elsewhere are named with process, share, memory and promise") {
    const auto found = disagreement("bind:1", 0, {{0, 16 * kMiB}, {1, 16 * kMiB}, {3, 32 * kMiB}});
    REQUIRE(found);
    CHECK(*found ==
          "75 % of the pages of process 0 (48 MiB of 64 MiB) lie in memories P#0,3, promised was only in "
          "memory P#1");
    const auto full = disagreement("first-touch", 1, {{1, 48 * kMiB}, {2, 16 * kMiB}});
    REQUIRE(full);
    CHECK(*full ==
          "25 % of the pages of process 1 (16 MiB of 64 MiB) lie in memory P#2, promised was memory P#1, "
          "nearest to the threads that touch them first");
}

TEST_CASE("interleaved pages are spread evenly, but for the pieces in which the kernel deals them") {
    CHECK_FALSE(
        disagreement("interleave:0-3", 0, {{0, 16 * kMiB}, {1, 17 * kMiB}, {2, 15 * kMiB}, {3, 16 * kMiB}}));
    // Two threads that each have a huge page or two: all may lie in one memory.
    CHECK_FALSE(disagreement("interleave:0-3", 0, {{0, 8 * kMiB}}));
    const auto uneven = disagreement("interleave:0-3", 0, {{0, 64 * kMiB}});
    REQUIRE(uneven);
    CHECK(*uneven ==
          "memory P#0 has 100 % of the pages of process 0 (64 MiB of 64 MiB), promised was page by page over "
          "memories P#0-3");
}

TEST_CASE("files and shared memory, which a process' own policy does not place, are not judged") {
    const auto bytes =
        own_bytes({region(Kind::heap, 0, 1), region(Kind::stack, 1, 2), region(Kind::anonymous, 2, 4),
                   region(Kind::file, 3, 8), region(Kind::shared, 3, 16), region(Kind::program_text, 3, 32),
                   region(Kind::library_text, 3, 64)});
    CHECK(bytes == ByMemory{{0, 1}, {1, 2}, {2, 4}});
}

TEST_CASE("processes are read in turn, and the turn goes round") {
    const std::vector<RankedProcess> three = {{30, 0}, {10, 1}, {20, 2}};
    const auto pids = [&](int last) {
        std::vector<int> list;
        for (const RankedProcess& p : in_turn(three, last)) list.push_back(p.pid);
        return list;
    };
    CHECK(pids(0) == std::vector<int>{10, 20, 30});
    CHECK(pids(10) == std::vector<int>{20, 30, 10});
    CHECK(pids(15) == std::vector<int>{20, 30, 10});  // 15 has ended
    CHECK(pids(30) == std::vector<int>{10, 20, 30});
}

TEST_CASE("all processes of a run are read, however many, once there was time for it", "[native]") {
    NOT_WITH_SANITIZERS();
    std::vector<std::unique_ptr<Waiting>> started;
    std::vector<RankedProcess> processes;
    Placement promised;
    // More than the first bytes, which are read at once: each process counts as so many.
    constexpr auto kMany = static_cast<int>(PageReadback::kFreeBytes / PageReadback::kLeastBytes) + 8;
    for (int rank = 0; rank < kMany; ++rank) {
        started.push_back(std::make_unique<Waiting>());
        processes.push_back({started.back()->pid(), rank});
    }
    PageReadback pages(promised);
    pages.read(processes, 0.05);
    CHECK(pages.reading(true).processes == 0);
    CHECK(pages.reading(true).verdict == "nothing promised");
    pages.read(processes, PageReadback::kEarliest);
    const size_t first = pages.reading(true).processes;
    if (first == 0) return;  // neither numa_maps nor move_pages here
    CHECK(first >= kMany - 8);
    for (int again = 0; again < 100; ++again) pages.read(processes, PageReadback::kEarliest);
    CHECK(pages.reading(true).processes < kMany);  // no time was left
    pages.read(processes, 1e6);
    CHECK(pages.reading(true).processes == kMany);
    CHECK(machine::total(pages.reading(true).by_memory) > kMany * 4096);
}

TEST_CASE("the words of --explain and --check tell threads from pages, and never call unknown pages placed") {
    CHECK(verdict_text(read_back(true, "as promised", true)) ==
          "read:    threads: as promised; pages: as promised (2 of 2 processes read)");
    const Record unknown = read_back(true, "placement unverified: mbind: Operation not permitted", {});
    CHECK(verdict_text(unknown) ==
          "read:    threads: as promised; pages: placement unverified: mbind: Operation not permitted");
    CHECK(why_not_known(unknown) == "placement unverified: mbind: Operation not permitted");
    Record away = read_back(true, "not as promised", false);
    away.pages.disagreement = away.disagreement = "75 % elsewhere";
    CHECK(verdict_text(away) ==
          "read:    threads: as promised; pages: not as promised (2 of 2 processes read): 75 % elsewhere");
    CHECK(placement_not_kept(away).allowed() == "pages in the memories that --explain shows");
    away.threads_agree = false;
    CHECK(placement_not_kept(away).allowed().find("threads on the PUs, and pages") == 0);
}
