// What takes minutes: barriers by the million, deaths by the hundred.
#include <fmt/format.h>
#include <sys/wait.h>

#include <random>

#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata::team::testing;

TEST_CASE("64 processes on whatever CPUs there are pass 10^6 barriers") {
    Run run({"barriers", "1000000"}, layout("64x1"));
    const Done done = run.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(done.out == "64 members passed 1000000 barriers\n");
    CHECK(run.nobody_left());
}

TEST_CASE("members killed at 200 random moments: nobody hangs, nothing is left") {
    std::mt19937 random(std::random_device{}());
    const auto before = shared_memory();
    for (int i = 0; i < 200; ++i) {
        const int members = 2 + static_cast<int>(random() % 31);
        const std::string victim = std::to_string(random() % static_cast<unsigned>(members));
        const std::string moment = std::to_string(random() % 60'000);
        Run run({"die", "kill", victim, moment}, layout(fmt::format("{}x1", members)));
        const Done done = run.wait();
        INFO("member " << victim << " of " << members << " after " << moment << " us\n"
                       << done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == 137);
        CHECK(count(done.out, "member " + victim + " (process ") == members - 1);
        CHECK(run.nobody_left());
        CHECK(no_shared_memory_left(before));
    }
}
