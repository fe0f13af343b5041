// The C interface, by a program in C that is run as a user runs it.
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

TEST_CASE("every call from C does what it says, for any number of members") {
    for (const int members : {1, 3}) {
        Run run({"calls"}, layout(fmt::format("{}x1", members)));
        const Done done = run.wait();
        INFO(done.out << done.err);
        CHECK(done.status == 0);
        CHECK(done.err.empty());
        CHECK(count(done.out, fmt::format("of {}: all calls", members)) == members);
    }
}

TEST_CASE("the exact sum from C has the same bits for any number of members") {
    const Done one = Run({"exact"}, layout("1x1")).wait(), three = Run({"exact"}, layout("3x1")).wait(),
               seven = Run({"exact"}, layout("7x1")).wait();
    REQUIRE(has(one.out, "sum 0x"));
    CHECK(one.out == three.out);
    CHECK(one.out == seven.out);
}

TEST_CASE("errors come back as codes where the program asked for them") {
    const Done done = Run({"errors"}, layout("2x1")).wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(done.err.empty());
    CHECK(has(done.out, "errors are returned"));
}

TEST_CASE("else an error is one message and ends the run") {
    Run run({"fatal"}, layout("3x1"));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(WEXITSTATUS(done.status) == 2);
    CHECK(count(done.err, "strata: error") == 1);
    CHECK(count(done.err, "strata: error: member 1 (process ") == 1);
    CHECK(count(done.err,
                "exited with status 2: an array has been asked for with two sizes; the run ends\n") == 1);
    CHECK(count(done.err, "  at: array x") == 1);
    CHECK(done.out.empty());
    CHECK(run.nobody_left());

    const Done before = Run({"before"}, {}).wait();
    CHECK(WEXITSTATUS(before.status) == 2);
    CHECK(has(before.err, "mlp_barrier needs a team"));
}

TEST_CASE("a member that dies is a code for the others, with its name") {
    Run run({"lost"}, layout("4x1"));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(WEXITSTATUS(done.status) == 137);
    CHECK(count(done.out, ": 2 member 2 (process ") == 3);
    CHECK(count(done.out, "was killed by SIGKILL") == 3);
    CHECK(count(done.err, "was killed by SIGKILL") == 1);
    CHECK(run.nobody_left());
}

TEST_CASE("by default the others of one that dies, gives up or forgets to finish end quietly") {
    struct Way {
        const char* how;
        int exit_code;
        const char* said;
    };
    for (const Way& way :
         {Way{"killed", 137, "member 2"}, Way{"fail", 9, "exited with status 9: the matrix is singular"},
          Way{"unfinished", 1, "did not leave its team in good order"}}) {
        Run run({way.how}, layout("3x1"));
        const Done done = run.wait();
        INFO(way.how << "\n" << done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == way.exit_code);
        CHECK(count(done.err, "strata: error") == 1);
        CHECK(has(done.err, way.said));
        CHECK(done.out.empty());
        CHECK(run.nobody_left());
    }
}
