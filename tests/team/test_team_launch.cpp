// strata launch around programs that start their members themselves.
#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "core/launch/elf.hpp"
#include "core/launch/program.hpp"
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

std::vector<std::string> launched(std::vector<std::string> options) {
    std::vector<std::string> command = {TEST_STRATA, "launch"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"--", TEST_MEMBER});
    return command;
}

}  // namespace

TEST_CASE("a team program is known by a note in its file") {
    CHECK(launch::examine(TEST_MEMBER, "").team);
    CHECK_FALSE(launch::examine(TEST_STRATA, "").team);
    CHECK_FALSE(launch::examine("/bin/sh", "").team);
    const auto elf = launch::read_elf(TEST_MEMBER);
    REQUIRE(elf);
    CHECK(elf->notes == std::vector<std::uint32_t>{launch::kTeamNote});
}

TEST_CASE("strata launch starts a team program once, and the team has its layout", "[native]") {
    Run run({"describe"}, {}, launched({"--layout", "3x1", "--bind", "none"}));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(count(done.out, "member ") == 3);
    CHECK(count(done.out, "sum 6 same true layout 3x1") == 3);
    CHECK(run.nobody_left());
}

TEST_CASE("the members are where the launcher's placement says, also where they could not have known",
          "[native]") {
    // The reverse of what a team would do by itself.
    const std::vector<int> pus = machine::own_affinity();
    if (pus.size() < 2) return;
    Run run({"describe"}, {},
            launched({"--layout", "2x1", "--bind", fmt::format("os:{},{}", pus[1], pus[0])}));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(has(done.out, fmt::format("member 0 of 2 on {} ", pus[1])));
    CHECK(has(done.out, fmt::format("member 1 of 2 on {} ", pus[0])));
}

#ifdef TEST_STRIPPED
TEST_CASE("a team program that has lost its note is started as copies, and refuses once, saying what to type",
          "[native]") {
    REQUIRE_FALSE(launch::examine(TEST_STRIPPED, "").team);
    Run run({"describe"}, {},
            {TEST_STRATA, "launch", "--layout", "3x1", "--bind", "none", "--", TEST_STRIPPED});
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(WEXITSTATUS(done.status) == 2);
    CHECK(count(done.err, "strata: error") == 1);
    CHECK(has(done.err, "this program starts its members itself, and is one of several copies already"));
    CHECK(has(done.err, "STRATA_LAYOUT=3x1 ./a.out, without strata launch"));
    CHECK(done.out.empty());
    CHECK(run.nobody_left());
    // What it says to type is right.
    const Done plain = Run({"describe"}, layout("3x1"), TEST_STRIPPED).wait();
    CHECK(plain.status == 0);
    CHECK(count(plain.out, "of 3 on") == 3);
}
#endif

TEST_CASE("a dry run says that the program is started once", "[native]") {
    const Done done =
        Run({"describe"}, {}, launched({"--layout", "2x1", "--bind", "none", "--dry-run"})).wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(has(done.out, "start:   once: it starts its 2 members of a team itself"));
    CHECK(has(done.out, "STRATA_LAYOUT=2x1"));
    CHECK(has(done.out, "STRATA_TEAM_PLACEMENT="));
    CHECK_FALSE(has(done.out, "STRATA_RANK="));
    const Done mpi = Run({"describe"}, {}, launched({"--layout", "2x1", "--mpi", "--bind", "none"})).wait();
    CHECK(WEXITSTATUS(mpi.status) == 2);
    CHECK(has(mpi.err, "link strata::team_mpi"));
}

TEST_CASE("a record names each member of a team as a process of the layout", "[native]") {
    const std::filesystem::path file =
        std::filesystem::temp_directory_path() / fmt::format("strata-team-record-{}.json", getpid());
    // Long enough to be looked at: the launcher does so after 0.03 s, 0.15 s and then every half second.
    Run run({"stay", "1200"}, {}, launched({"--layout", "2x1", "--bind", "none", "--record", file.string()}));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    std::ifstream in(file);
    const std::string record((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    std::filesystem::remove(file);
    CHECK(has(record, "\"layout\":\"2x1\""));
    // Of the threads that were seen, not of what was promised.
    for (const int rank : {0, 1}) CHECK(has(record, fmt::format("\"rank\":{},\"name\":", rank)));
    CHECK(run.nobody_left());
}
