// FORKIT, GETMEM and BARRIER: what they refuse, and what the original did beside the plain case.
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

Run forker(const char* what) { return Run({what}, {}, TEST_FORKER); }

std::vector<std::string> launched(std::vector<std::string> options) {
    std::vector<std::string> command = {TEST_STRATA, "launch"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", TEST_FORKER});
    return command;
}

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

TEST_CASE("strata launch starts a program with FORKIT once, and the forked processes are its layout") {
    Run run({"numbers"}, {}, launched({"--layout", "4x1", "--bind", "none"}));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(count(done.out, "number ") == 4);
    for (const int number : {0, 1, 2, 3}) CHECK(count(done.out, fmt::format("number {}\n", number)) == 1);
    CHECK(run.nobody_left());
    const std::vector<int> pus = machine::own_affinity();
    if (pus.size() < 2) return;
    // The reverse of what would be without the launcher, and memory as it says.
    const Done placed = Run({"where"}, {},
                            launched({"--layout", "2x1", "--bind", fmt::format("os:{},{}", pus[1], pus[0]),
                                      "--memory", "interleave"}))
                            .wait();
    INFO(placed.out << placed.err);
    CHECK(placed.status == 0);
    CHECK(has(placed.out, fmt::format("number 0 on {} of 1 cpus policy 3\n", pus[1])));
    CHECK(has(placed.out, fmt::format("number 1 on {} of 1 cpus policy 3\n", pus[0])));
}

TEST_CASE("a layout of strata launch that is not FORKIT's is one error with the way out") {
    for (const char* text : {"2x1", "1x1", "1x2"}) {
        Run run({"numbers"}, {}, launched({"--layout", text, "--bind", "none"}));
        const Done done = run.wait();
        INFO(text << "\n" << done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == 2);
        CHECK(count(done.err, "strata: error") == 1);
        CHECK(has(done.err, fmt::format("given: numpro = 4, STRATA_LAYOUT={}\n", text)));
        CHECK(has(done.err, fmt::format("try: STRATA_LAYOUT=4x{}, or without it", text + 2)));
        CHECK(done.out.empty());
        CHECK(run.nobody_left());
    }
    const Done mpi = Run({"numbers"}, {}, launched({"--layout", "4x1", "--bind", "none", "--mpi"})).wait();
    CHECK(WEXITSTATUS(mpi.status) == 2);
    CHECK(has(mpi.err, "the program cannot be started by an mpirun"));
}

TEST_CASE("copies of a program with FORKIT, by whatever launcher, do not fork a team each") {
    // What Open MPI's mpirun and strata launch (around a shell script, which hides the program) set.
    for (const auto& settings :
         {std::vector<launch::Setting>{{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}},
          std::vector<launch::Setting>{{"STRATA_RANK", "0"}, {"STRATA_SIZE", "2"}}}) {
        const Done done = Run({"numbers"}, settings, TEST_FORKER).wait();
        INFO(done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == 2);
        CHECK(count(done.err,
                    "strata: error: this program starts its members itself, and is one of several") == 1);
        CHECK(has(done.err, "copy 0 of 2"));
        CHECK(done.out.empty());
    }
}
