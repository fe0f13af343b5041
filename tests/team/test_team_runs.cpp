// Teams as a user starts them: ./a.out, and what is left when members or the parent are killed.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <random>
#include <regex>
#include <sstream>

#include "core/machine/sysfs.hpp"
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

TEST_CASE("a plain start makes one member a core, each bound, all with the same memory at one address",
          "[native]") {
    Run run({"describe"}, {});
    const Done done = run.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(done.err.empty());
    const int cores = count(done.out, "member ");
    REQUIRE(cores >= 1);
    CHECK(count(done.out, fmt::format("of {} on", cores)) == cores);
    CHECK(count(done.out, fmt::format("sum {} same true", cores * (cores + 1) / 2)) == cores);
    // Bound: what the kernel says is what the layout said, and no PU is twice among them.
    std::regex line("on ([0-9,-]+) .* cpus ([0-9,-]+)");
    std::istringstream lines(done.out);
    std::vector<std::string> seen;
    for (std::string text; std::getline(lines, text);) {
        std::smatch found;
        REQUIRE(std::regex_search(text, found, line));
        CHECK(found[1] == found[2]);
        CHECK(std::find(seen.begin(), seen.end(), found[1]) == seen.end());
        seen.push_back(found[1]);
    }
    CHECK(run.nobody_left());
}

TEST_CASE("a layout says how many members there are, and one that does not fit is refused", "[native]") {
    Run five({"describe"}, layout("5x1"));
    const Done done = five.wait();
    CHECK(done.status == 0);
    CHECK(count(done.out, "of 5 on") == 5);
    CHECK(count(done.out, "sum 15 same true layout 5x1") == 5);

    const Done refused = Run({"describe"}, layout("4000x1", true)).wait();
    CHECK(WEXITSTATUS(refused.status) == 2);
    CHECK(count(refused.err, "strata: error") == 1);
    CHECK(has(refused.err, "4000x1"));
    const Done wrong = Run({"describe"}, layout("five")).wait();
    CHECK(WEXITSTATUS(wrong.status) == 2);
    CHECK(has(wrong.err, "PxT"));
}

TEST_CASE("several copies of the program do not start a team each", "[native]") {
    auto settings = layout("2x1");
    settings.push_back({"STRATA_SIZE", "2"});
    const Done done = Run({"describe"}, settings).wait();
    CHECK(WEXITSTATUS(done.status) == 2);
    CHECK(has(done.err, "one of several copies"));
    CHECK(has(done.err, "STRATA_LAYOUT=2x1 ./a.out"));
}

TEST_CASE("when the arena's address is taken in one member, all agree on another", "[native]") {
    const Done done = Run({"occupied"}, layout("3x1")).wait();
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(count(done.out, "same true") == 3);
}

TEST_CASE("64 processes on whatever CPUs there are pass 2000 barriers", "[many][native]") {
    Run run({"barriers", "2000"}, layout("64x1"));
    const Done done = run.wait();
    INFO(done.err);
    CHECK(done.status == 0);
    CHECK(done.out == "64 members passed 2000 barriers\n");
    CHECK(run.nobody_left());
}

namespace {

/// Whether a way to end has a part beside its first line.
bool said_by(const std::string& how, const std::string& part) {
    if (how == "error") return part.starts_with("  ") && !has(part, "limit");
    return how == "bus" && has(part, "limit");
}

}  // namespace

TEST_CASE("however a member ends, the others leave their barrier with its name and the run fails",
          "[native]") {
    struct Way {
        const char* how;
        int exit_code;
        const char* said;
    };
    for (const Way& way :
         {Way{"kill", 137, "was killed by SIGKILL"}, Way{"segv", 139, "was killed by SIGSEGV"},
          Way{"exit", 1, "ended with status 0 but did not leave its team"},
          Way{"exit7", 7, "exited with status 7"},
          Way{"throw", 1, "exited with status 1: the matrix is singular"},
          Way{"error", 3, "exited with status 3: the matrix is singular"},
          Way{"bus", 135, "was killed by SIGBUS: no memory for a page of array 'pressure', byte 100"}}) {
        Run run({"die", way.how, "2", "30000"}, layout("5x1"));
        const Done done = run.wait();
        INFO(way.how << "\n" << done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == way.exit_code);
        CHECK(count(done.err, way.said) == 1);  // said once, by whoever
        CHECK(count(done.err, "strata: error") == 1);
        for (const char* part : {"the matrix is singular", "no memory for a page", "  at: case.toml:12",
                                 "  given: pivot 0", "  try: scale the rows", "  try: a larger limit"})
            CHECK(count(done.err, part) == (has(way.said, part) || said_by(way.how, part) ? 1 : 0));
        CHECK(count(done.out, "saw within") == 4);
        CHECK(count(done.out, std::string("member 2 (process ")) == 4);
        CHECK(count(done.out, way.said) == 4);
        CHECK(run.nobody_left());
    }
}

TEST_CASE("what all members fail with is said once, and what each fails with once each", "[native]") {
    for (const auto& command : {std::vector<std::string>{TEST_MEMBER},
                                std::vector<std::string>{TEST_STRATA, "launch", "--layout", "3x1", "--bind",
                                                         "none", "--", TEST_MEMBER}}) {
        Run alike({"together", "alike"}, layout("3x1"), command);
        Done done = alike.wait();
        INFO(done.err);
        CHECK(WEXITSTATUS(done.status) == 3);
        for (const char* part : {"strata: error", "the matrix is singular", "case.toml:12", "scale the rows"})
            CHECK(count(done.err, part) == 1);
        CHECK(alike.nobody_left());
        Run each({"together", "each"}, layout("3x1"), command);
        done = each.wait();
        INFO(done.err);
        CHECK(WEXITSTATUS(done.status) == 1);
        CHECK(count(done.err, "; the run ends") == 1);
        CHECK(count(done.err, "strata: error") == 3);
        for (const int rank : {0, 1, 2}) {
            CHECK(count(done.err, fmt::format("file.{} is missing", rank)) == 1);
            CHECK(count(done.err, fmt::format("line two of {}\n", rank)) == 1);
        }
        CHECK(each.nobody_left());
    }
}

TEST_CASE("a member that leaves while others still meet is named", "[native]") {
    Run run({"die", "leave", "1", "20000"}, layout("3x1"));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(WEXITSTATUS(done.status) == 1);
    CHECK(has(done.err, "member 1 left the team after"));
    CHECK(run.nobody_left());
}

TEST_CASE("members that never wait are ended too when another has died", "[native]") {
    Run run({"die", "stuck", "0", "1000"}, layout("3x1"));
    const Done done = run.wait();
    CHECK(WEXITSTATUS(done.status) == 137);
    CHECK(has(done.err, "member 0"));
    CHECK(run.nobody_left());
}

TEST_CASE("a member that ends before it joins ends the run", "[native]") {
    Run run({"early"}, layout("3x1"));
    const Done done = run.wait();
    CHECK(WEXITSTATUS(done.status) == 5);
    CHECK(has(done.err, "member 1"));
    CHECK(run.nobody_left());
}

TEST_CASE("killed at random moments, nobody hangs and nothing is left", "[native]") {
    std::mt19937 random(std::random_device{}());
    for (int i = 0; i < 12; ++i) {
        const std::string victim = std::to_string(random() % 7), moment = std::to_string(random() % 40'000);
        Run run({"die", "kill", victim, moment}, layout("7x1"));
        const Done done = run.wait();
        INFO("member " << victim << " after " << moment << " us\n" << done.out << done.err);
        CHECK(WEXITSTATUS(done.status) == 137);
        CHECK(count(done.out, "member " + victim + " (process ") == 6);
        CHECK(run.nobody_left());
    }
}

TEST_CASE("what members share has no name in the system, so that nothing can be left behind", "[native]") {
    Run run({"wait"}, layout("2x1"));
    REQUIRE(run.read_until([](const Done& done) { return count(done.out, "pid ") == 2; }));
    int arenas = 0;
    for (const int pid : run.alive()) {
        const std::string maps = machine::read_file(fmt::format("/proc/{}/maps", pid)).value_or("");
        arenas += count(maps, "/memfd:strata-arena (deleted)") > 0 ? 1 : 0;
        CHECK(count(maps, "/dev/shm") == 0);
        std::istringstream lines(maps);
        for (std::string line; std::getline(lines, line);)
            if (has(line, "rw-s")) CHECK(has(line, "/memfd:strata-arena (deleted)"));
    }
    CHECK(arenas == 3);  // and the parent's
}

TEST_CASE("when the parent is killed its members end", "[native]") {
    Run run({"wait"}, layout("4x1"));
    REQUIRE(run.read_until([](const Done& done) { return count(done.out, "pid ") == 4; }));
    kill(run.pid(), SIGKILL);
    const Done done = run.wait();
    CHECK(WTERMSIG(done.status) == SIGKILL);
    CHECK(run.nobody_left());
}

TEST_CASE("a signal to the parent ends the run, and is what the run's status says", "[native]") {
    for (const int signal : {SIGTERM, SIGINT}) {
        Run run({"wait"}, layout("4x1"));
        REQUIRE(run.read_until([](const Done& done) { return count(done.out, "pid ") == 4; }));
        kill(run.pid(), signal);
        const Done done = run.wait();
        CHECK(WEXITSTATUS(done.status) == 128 + signal);
        CHECK(done.err.empty());
        CHECK(run.nobody_left());
    }
}
