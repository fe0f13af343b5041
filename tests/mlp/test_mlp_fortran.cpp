// The Fortran module, and a code of MLPlib's time in Fortran 77.
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

TEST_CASE("every call of the Fortran module does what it says, for any number of members") {
    for (const int members : {1, 4}) {
        const Done done = Run({"calls"}, layout(fmt::format("{}x1", members)), TEST_FORTRAN_MEMBER).wait();
        INFO(done.out << done.err);
        CHECK(done.status == 0);
        CHECK(done.err.empty());
        CHECK(count(done.out, fmt::format("of {}: all calls, threads 1", members)) == members);
    }
}

TEST_CASE("a Fortran member that gives up or stops ends the run") {
    Run fail({"fail"}, layout("3x1"), TEST_FORTRAN_MEMBER),
        stop({"stop"}, layout("3x1"), TEST_FORTRAN_MEMBER);
    const Done failed = fail.wait(), stopped = stop.wait();
    INFO(failed.err << stopped.err);
    CHECK(WEXITSTATUS(failed.status) == 9);
    CHECK(count(failed.err, "exited with status 9: the matrix is singular") == 1);
    CHECK(WEXITSTATUS(stopped.status) == 7);
    CHECK(count(stopped.err, "exited with status 7") == 1);
    CHECK(failed.out + stopped.out == "");
    CHECK(fail.nobody_left());
    CHECK(stop.nobody_left());
}

TEST_CASE(
    "a code of MLPlib's time links unchanged and computes what it did, with integers of 4 and of 8 bytes") {
    for (const char* program : {TEST_OLD_CODE, TEST_OLD_CODE_I8})
        for (const char* members : {"1", "4", "7"})
            for (const char* threads : {"1", "3"}) {
                Run run({"RUN", members}, {{"OMP_NUM_THREADS", threads}}, program);
                const Done done = run.wait();
                INFO(program << " " << members << " x " << threads << "\n" << done.out << done.err);
                CHECK(done.status == 0);
                CHECK(done.err.empty());
                CHECK(count(done.out, "TOTAL IS RIGHT") == 1);
                CHECK(count(done.out, "MASTER DONE") == 1);  // what was in the buffer is written once
                CHECK(run.nobody_left());
            }
}

TEST_CASE("a layout binds the processes of an old code, and must agree with it") {
    Run run({"RUN", "2"}, layout("2x2"), TEST_OLD_CODE);
    const Done done = run.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    const Done differs = Run({"RUN", "3"}, layout("2x1"), TEST_OLD_CODE).wait();
    CHECK(WEXITSTATUS(differs.status) == 2);
    CHECK(has(differs.err, "numpro = 3, STRATA_LAYOUT=2x1"));
}

TEST_CASE(
    "an old code whose OpenMP is told to bind threads is refused: all processes would have the same cores") {
    const Done done = Run({"RUN", "2"}, {{"OMP_PROC_BIND", "true"}}, TEST_OLD_CODE).wait();
    INFO(done.out << done.err);
    CHECK(WEXITSTATUS(done.status) == 2);
    CHECK(count(done.err, "strata: error") == 1);
    CHECK(has(done.err, "OMP_PROC_BIND=true"));
    const Done alone = Run({"RUN", "1"}, {{"OMP_PROC_BIND", "true"}}, TEST_OLD_CODE).wait();
    CHECK(alone.status == 0);
}

TEST_CASE(
    "however a process of an old code ends, also the first, the others leave their barrier and the run "
    "fails") {
    struct Way {
        const char* how;
        int exit_code;
        const char* said;
    };
    for (const Way& way :
         {Way{"STOP", 7, "exited with status 7"}, Way{"ABORT", 134, "member 1 (process "},
          Way{"MASTER", 134, "member 0 (process "}, Way{"LEAVE", 1, "member 1 left the team after"}}) {
        Run run({way.how, "5"}, {{"OMP_NUM_THREADS", "2"}}, TEST_OLD_CODE);
        const Done done = run.wait();
        INFO(way.how << "\n" << done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == way.exit_code);
        CHECK(count(done.err, "strata: error") == 1);
        CHECK(has(done.err, way.said));
        CHECK(!has(done.out, "TOTAL"));
        CHECK(run.nobody_left());
    }
}
