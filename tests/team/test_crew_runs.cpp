// Crews of processes: threads bound to cores that go from one process to another, and what happens when one
// dies.
#include <fmt/format.h>
#include <sys/wait.h>

#include "core/machine/limits.hpp"
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

#ifdef TEST_HAS_OPENMP
constexpr bool kHasOpenMP = true;
#else
constexpr bool kHasOpenMP = false;
#endif

Done done(std::vector<std::string> words, std::vector<launch::Setting> settings) {
    Run run(std::move(words), std::move(settings));
    Done all = run.wait();
    CHECK(run.nobody_left());
    return all;
}

}  // namespace

TEST_CASE("each thread of a member is bound to its core, and those without one sleep", "[native]") {
    const int pus = static_cast<int>(machine::own_affinity().size());
    const int threads = std::min(pus, 4);
    const Done one = done({"binding"}, layout(fmt::format("1x{}", threads), true));
    INFO(one.err);
    CHECK(one.status == 0);
    CHECK(one.out ==
          fmt::format("member 0: {} threads, bound true, one true, asleep true, again true\n", threads));
}

TEST_CASE("cores go round among processes, and on each only one thread is awake", "[native]") {
    for (const char* how : {"prepared", "not"}) {
        const Done all = done({"travel", "300", how}, layout("3x1"));
        INFO(all.err);
        CHECK(all.status == 0);
        CHECK(has(all.out, "went round 3 members 300 times, wrong 0\n"));
    }
}

TEST_CASE("eight processes on whatever cores there are change each other's counts at random", "[native]") {
    const Done all = done({"disorder", "400"}, layout("8x2"));
    INFO(all.err);
    CHECK(all.status == 0);
    CHECK(all.out == "16 threads of 8 members, changed true, wrong 0\n");
}

TEST_CASE("a member that is killed within a region ends the run, and the others know", "[native]") {
    for (const char* text : {"4x2", "2x3"}) {
        const Done all = done({"die"}, layout(text));
        INFO(all.out << all.err);
        CHECK(WEXITSTATUS(all.status) == 137);
        CHECK(count(all.err, "member 1 (process ") == 1);
        CHECK(count(all.out, "was killed by SIGKILL") == text[0] - '0' - 1);
    }
}

TEST_CASE("an exception in a thread of a crew ends its member with its message", "[native]") {
    const Done all = done({"singular"}, layout("2x2"));
    CHECK(WEXITSTATUS(all.status) == 1);
    CHECK(count(all.err, "the matrix is singular") >= 1);
}

TEST_CASE("OpenMP's threads are as many as the member has cores, each bound to its own", "[native]") {
    const int pus = static_cast<int>(machine::own_affinity().size());
    const int threads = std::min(pus, 4);
    const Done all = done({"openmp"}, layout(fmt::format("1x{}", threads), true));
    INFO(all.out << all.err);
    CHECK(all.status == 0);
    CHECK(all.out == (kHasOpenMP ? fmt::format("OpenMP had {0} 1 {0} 1 {0} threads, wrong 0\n", threads)
                                 : "no OpenMP: 0\n"));
}

TEST_CASE("cores that a process has lent to its OpenMP stay there until it asks anew", "[native]") {
    const Done all = done({"lent"}, layout("2x1"));
    INFO(all.out << all.err);
    CHECK(all.status == 0);
    const int extra = static_cast<int>(machine::own_affinity().size()) - 1;
    CHECK(has(all.out,
              fmt::format("member 0: of {} cores 0 before, 0 after, {} back, wrong 0\n", extra, extra + 1)));
    CHECK(has(all.out, fmt::format("member 1: of {} cores {} before, {} after, 0 back, wrong 0\n", extra,
                                   extra == 0   ? 0
                                   : kHasOpenMP ? 1
                                                : 1 + extra,
                                   1 + extra)));
}
