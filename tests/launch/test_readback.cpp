#include <chrono>
#include <thread>

#include "core/launch/accounts.hpp"
#include "core/launch/placement.hpp"
#include "core/launch/readback.hpp"
#include "tests/catch.hpp"

using namespace strata::launch;

namespace {

ThreadReading thread(int tid, int rank, std::vector<int> allowed, double cpu_s) {
    return {100, tid, rank, "program", std::move(allowed), 0, cpu_s, std::nullopt};
}

UsageSnapshot books(double seconds, double busy, double own) {
    UsageSnapshot b;
    b.at =
        std::chrono::steady_clock::time_point(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(seconds)));
    b.cpus[0] = {busy, 0, 0};
    b.cpus[1] = {busy, 0, 0.5 * seconds};
    b.cpus[7] = {1000 * seconds, 0, 0};
    b.own_s = own;
    return b;
}

}  // namespace

TEST_CASE("threads where they were promised to be agree") {
    const auto promised = place({{0}, {1}, {2}, {3}}, {2, 2, 1, Bind::core});
    CHECK_FALSE(
        find_disagreement({thread(1, 0, {0}, 1), thread(2, 0, {1}, 1), thread(3, 1, {2, 3}, 1)}, promised));
}

TEST_CASE("two computing threads held on one PU are seen, by name") {
    const auto promised = place({{0}, {1}}, {1, 2, 1, Bind::core});
    const auto found = find_disagreement({thread(11, 0, {0}, 1), thread(12, 0, {0}, 0.9)}, promised);
    REQUIRE(found);
    CHECK(*found == "two threads on PU 0: tid 11, tid 12");
    // Also when nothing was promised.
    CHECK(find_disagreement({thread(11, 0, {0}, 1), thread(12, 0, {0}, 1)},
                            place({{0}, {1}}, {1, 2, 1, Bind::none})));
    // Also when they belong to different processes.
    CHECK(find_disagreement({thread(11, 0, {0}, 1), thread(12, 1, {0}, 1)},
                            place({{0}, {1}}, {2, 1, 1, Bind::none})));
}

TEST_CASE("a thread that may leave its process' PUs is seen") {
    const auto promised = place({{0}, {1}}, {2, 1, 1, Bind::core});
    const auto found = find_disagreement({thread(5, 1, {0, 1}, 1)}, promised);
    REQUIRE(found);
    CHECK(found->find("tid 5 of process 1 may run on PU 0-1, promised was PU 1") != std::string::npos);
}

TEST_CASE("helper threads that compute nothing are not judged") {
    const auto promised = place({{0}, {1}}, {1, 2, 1, Bind::core});
    CHECK_FALSE(find_disagreement({thread(1, 0, {0}, 5), thread(2, 0, {0}, 0.3), thread(3, 0, {0, 1, 2}, 0)},
                                  promised));
}

TEST_CASE("threads that compute at once are told from those that come one after another") {
    const auto after = [](std::vector<double> cpu_s) {
        std::vector<ThreadReading> now;
        for (size_t i = 0; i < cpu_s.size(); ++i)
            if (cpu_s[i] >= 0) now.push_back(thread(static_cast<int>(i), 0, {0, 1}, cpu_s[i]));
        return now;
    };
    ConcurrentThreads three, relay, helped;
    // Three on two PUs that somebody else uses too: each gets a third of a PU.
    for (const double t : {0.1, 0.6, 1.1}) three.read(after({t / 3, t / 3, t / 3}));
    CHECK(three.most() == 3);
    // The second is there, and waits, while the first computes; the third begins when both have ended.
    relay.read(after({0.1, 0.001, -1}));
    relay.read(after({0.6, 0.001, -1}));
    relay.read(after({0.8, 0.3, -1}));
    relay.read(after({0.8, 0.8, -1}));
    relay.read(after({-1, -1, 0.4}));
    relay.read(after({-1, -1, 0.9}));
    CHECK(relay.most() == 1);
    // A helper that looks after messages does not compute.
    for (const double t : {0.1, 0.6, 1.1}) helped.read(after({t, t, 0.05 * t}));
    CHECK(helped.most() == 2);
}

TEST_CASE("others' share is what the placement's CPUs did beyond the run itself") {
    const auto account = settle(books(0, 0, 0), books(2, 1.5, 2), {0, 1});
    REQUIRE(account.others_share);
    CHECK(*account.others_s == Approx(1.0));
    CHECK(*account.others_share == Approx(0.25));
    CHECK(*account.steal_share == Approx(0.25));
    CHECK(*settle(books(0, 0, 0), books(2, 0.5, 2), {0, 1}).others_share == 0);
}

TEST_CASE("a run too short for the tick counters has no share of others") {
    CHECK_FALSE(settle(books(0, 0, 0), books(0.15, 0.1, 0), {0, 1}).others_share);
}

TEST_CASE("libraries worth naming are those that decide what was measured") {
    CHECK(is_worth_naming("/usr/lib/libopenblas.so.0"));
    CHECK(is_worth_naming("/usr/lib/libmpi.so.40"));
    CHECK(is_worth_naming("/usr/lib/libgomp.so.1"));
    CHECK(is_worth_naming("/usr/lib/libfftw3.so.3"));
    CHECK_FALSE(is_worth_naming("/usr/lib/libc.so.6"));
    CHECK_FALSE(is_worth_naming("/somewhere/openblas/a.out"));
}
