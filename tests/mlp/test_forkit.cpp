// FORKIT, GETMEM and BARRIER: what they refuse, and what the original did beside the plain case.
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

Run forker(const char* what) { return Run({what}, {}, TEST_FORKER); }

}  // namespace

TEST_CASE("FORKIT refuses a process with other threads, and names them") {
    Run run = forker("threads");
    const Done done = run.wait();
    CHECK(WEXITSTATUS(done.status) == 2);
    CHECK(count(done.err, "strata: error") == 1);
    CHECK(has(done.err, "other threads"));
    CHECK(has(done.err, "1 more (mlp_forker)"));
    CHECK(run.nobody_left());
}

TEST_CASE("FORKIT is called once, for at least one process, and BARRIER after it") {
    CHECK(has(forker("none").wait().err, "numpro = 0"));
    CHECK(has(forker("before").wait().err, "BARRIER needs a team"));
    CHECK(has(forker("nothing").wait().err, "numbyt = 0"));
    const Done twice = forker("twice").wait();
    CHECK(WEXITSTATUS(twice.status) == 2);
    CHECK(has(twice.err, "FORKIT is called once"));
}

TEST_CASE("processes are numbered from 0, or from what STRATA_FORKIT_FIRST says") {
    const Done plain = forker("numbers").wait(),
               one = Run({"numbers"}, {{"STRATA_FORKIT_FIRST", "1"}}, TEST_FORKER).wait();
    for (const int number : {0, 1, 2, 3}) {
        CHECK(count(plain.out, fmt::format("number {}\n", number)) == 1);
        CHECK(count(one.out, fmt::format("number {}\n", number + 1)) == 1);
    }
}

TEST_CASE("BARRIER lets any so many of the processes through") {
    const Done done = forker("pairs").wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(has(done.out, "pairs have met, sum 4"));
}

TEST_CASE("a barrier of some that can never come together ends the run") {
    Run run = forker("vain");
    const Done done = run.wait();
    INFO(done.err);
    CHECK(WEXITSTATUS(done.status) == 1);
    CHECK(has(done.err, "a barrier of 2 of the 4 members waits in vain"));
    CHECK(run.nobody_left());
}

TEST_CASE("GETMEM8 takes sizes beyond 2 GiB") {
    const std::string memory = machine::read_file("/proc/meminfo").value_or("");
    const auto at = memory.find("MemAvailable:");
    if (at == std::string::npos || std::stol(memory.substr(at + 13)) < 4L << 20) return;  // KiB
    const Done done = forker("large").wait();
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(has(done.out, "3 GiB are shared"));
}

TEST_CASE("when the process that called FORKIT is killed, the forked ones end") {
    Run run({"wait"}, {}, TEST_FORKER);
    REQUIRE(run.read_until([](const Done& done) { return count(done.out, "number ") == 4; }));
    kill(run.pid(), SIGKILL);
    const Done done = run.wait();
    CHECK(WTERMSIG(done.status) == SIGKILL);
    CHECK(run.nobody_left());
}
