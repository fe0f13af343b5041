// Threads on cores.
#include <sched.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include "benchmarks/common/threads.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;

namespace {

/// The variable for as long as this lives.
struct Said {
    explicit Said(const char* text) { setenv("STRATA_CPUS", text, 1); }
    ~Said() { unsetenv("STRATA_CPUS"); }
};

}  // namespace

TEST_CASE("each member runs once, on its own PU, and the caller gets its binding back") {
    cpu_set_t before;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    const std::vector<int> pus = process_pus();
    std::vector<int> ran(pus.size(), -1);
    on_pus(pus, [&](int member) { ran[static_cast<std::size_t>(member)] = sched_getcpu(); });
    CHECK(ran == pus);
    cpu_set_t after;
    REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
    CHECK(CPU_EQUAL(&before, &after));
}

TEST_CASE("a PU that is not there is refused by its number, and nobody works") {
    std::atomic<int> worked{0};
    const std::vector<int> pus = {process_pus().front(), 100'000};
    try {
        on_pus(pus, [&](int) { ++worked; });
        FAIL("not refused");
    } catch (const strata::Error& error) {
        CHECK(error.given() == "100000");
    }
    CHECK(worked == 0);
}

TEST_CASE("an error of one member reaches the caller") {
    const std::vector<int> pus = {process_pus().front()};
    CHECK_THROWS_AS(on_pus(pus, [](int) { throw std::runtime_error("no"); }), std::runtime_error);
}

TEST_CASE("the launcher's word decides which PUs a process may use") {
    const Said said("3,5-6");
    CHECK(process_pus() == std::vector<int>{3, 5, 6});
}

TEST_CASE("of the siblings of a core only the first allowed one is taken") {
    const auto machine = strata::machine::read_machine({"synthetic:package:1 core:3 pu:2"});
    const std::vector<int> all = {0, 1, 2, 3, 4, 5}, some = {1, 4, 5};
    CHECK(one_pu_a_core(machine, all) == std::vector<int>{0, 2, 4});
    CHECK(one_pu_a_core(machine, some) == std::vector<int>{1, 4});
}

TEST_CASE("a spinning barrier lets nobody pass before all have come, time after time") {
    const std::vector<int> pus = process_pus();
    SpinBarrier barrier(static_cast<int>(pus.size()));
    std::atomic<int> arrived{0};
    std::atomic<int> early{0};
    on_pus(pus, [&](int) {
        for (int round = 1; round <= 100; ++round) {
            ++arrived;
            barrier.wait();
            if (arrived < round * static_cast<int>(pus.size())) ++early;
            barrier.wait();
        }
    });
    CHECK(early == 0);
}
