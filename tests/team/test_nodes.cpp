// Teams over several nodes, as a user starts them: mpirun -n 4 ./a.out, with every MPI that is here.
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <random>
#include <regex>

#include "tests/catch.hpp"
#include "tests/team/nodes_run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

/// The numbers after a word in the lines "member R node N pid P keeper K waits", by rank.
std::vector<int> after(const std::string& out, const std::string& word) {
    std::vector<int> found(16, 0);
    const std::regex form("member ([0-9]+) node .*" + word + " ([0-9]+)");
    for (const std::string& line : lines_of(out)) {
        std::smatch match;
        if (std::regex_search(line, match, form))
            found[static_cast<std::size_t>(std::stoi(match[1]))] = std::stoi(match[2]);
    }
    return found;
}

/// What does not depend on the MPI is tried with one.
std::vector<std::string> one_program() { return {nodes_programs().front()}; }

}  // namespace

TEST_CASE("ranks of a node share an arena, and all know where everybody is") {
    for (const std::string& program : nodes_programs()) {
        Run run({"hello"}, nodes_of(2), under_mpirun(4, program));
        const Done done = run.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status == 0);
        CHECK(done.err.empty());
        for (int rank = 0; rank < 4; ++rank)
            CHECK(has(done.out, fmt::format("member {} of 4 node {} of 2 local {} of 2 same true", rank,
                                            rank / 2, rank % 2)));
        CHECK(run.nobody_left());
    }
}

TEST_CASE("without more ado the ranks that mpirun puts on a machine are one node") {
    auto settings = nodes_of(1);
    settings.front() = {"STRATA_RANKS_PER_NODE", "", true};
    for (const std::string& program : nodes_programs()) {
        const Done done = Run({"hello"}, settings, under_mpirun(3, program)).wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status == 0);
        CHECK(count(done.out, "node 0 of 1") == 3);
    }
}

TEST_CASE("a binding by mpirun is kept, and is what the placement says") {
    for (const std::string& program : nodes_programs()) {
        auto command = under_mpirun(2, program);
        const bool bound = std::thread::hardware_concurrency() >= 2;
        if (!bound) return;
        *std::find(command.begin(), command.end(), "none") = "core";
        const Done done = Run({"hello"}, nodes_of(1), command).wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status == 0);
        CHECK(count(done.out, "layout 2x1 bind core") == 2);
        const std::regex form("member ([0-9]).* places ([^ ]*);([^ ]*) on ([^ ]*) pid");
        for (const std::string& line : lines_of(done.out)) {
            std::smatch match;
            REQUIRE(std::regex_search(line, match, form));
            CHECK(match[2] != match[3]);
            CHECK(match[4] == (match[1] == "0" ? match[2] : match[3]));
        }
    }
}

TEST_CASE("all that members do together gives what one process computes, for any division among nodes") {
    for (const std::string& program : nodes_programs()) {
        std::string answer;
        const bool first = program == nodes_programs().front();
        for (const auto& [ranks, per_node] :
             first ? std::vector<std::pair<int, int>>{{4, 2}, {3, 2}, {5, 1}, {2, 2}}
                   : std::vector<std::pair<int, int>>{{4, 2}, {3, 1}}) {
            const Done done = Run({"together"}, nodes_of(per_node), under_mpirun(ranks, program)).wait();
            INFO(program << " " << ranks << " ranks, " << per_node << " a node\n" << done.out << done.err);
            CHECK(done.status == 0);
            REQUIRE(has(done.out, fmt::format("{} members on {} nodes agree", ranks,
                                              (ranks + per_node - 1) / per_node)));
            const std::string sum = done.out.substr(done.out.find("agree"));
            CHECK((answer.empty() || sum == answer));
            answer = sum;
        }
    }
}

TEST_CASE("the exact sum is an operation of MPI for a single rank too") {
    for (const std::string& program : nodes_programs()) {
        const Done done = Run({"sum_alone"}, nodes_of(1), under_mpirun(1, program)).wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status == 0);
        CHECK(count(done.out, "alone ") == 1);
    }
}

TEST_CASE("however a member ends, all others on all nodes leave with its name and the run fails") {
    struct Way {
        const char* how;
        int exit_code;
        const char* said;
    };
    for (const std::string& program : nodes_programs())
        for (const Way& way :
             {Way{"kill", 137, "was killed by SIGKILL"}, Way{"segv", 139, "was killed by SIGSEGV"},
              Way{"exit0", 1, "ended with status 0 but did not leave its team"},
              Way{"exit7", 7, "exited with status 7"},
              Way{"throw", 1, "exited with status 1: the matrix is singular"},
              Way{"error", 3, "exited with status 3: the matrix is singular"}}) {
            // The next MPI tells apart only what it sees itself: that its process ended, with some status.
            if (program != nodes_programs().front() && way.exit_code != 137) continue;
            Run run({"die", way.how, "3", "30000"}, nodes_of(2), under_mpirun(4, program));
            const Done done = run.wait();
            INFO(program << " " << way.how << "\n" << done.out << done.err);
            CHECK(failed_with(way.exit_code, done, program));
            CHECK(count(done.err, "strata: error") == 1);
            CHECK(count(done.err, "strata: error: member 3") == 1);
            CHECK(count(done.err, "matrix is singular") == (has(way.said, "matrix") ? 1 : 0));
            for (const char* part : {"  at: case.toml:12\n", "  try: scale the rows\n"})
                CHECK(count(done.err, part) == (std::string(way.how) == "error" ? 1 : 0));
            CHECK(has(done.err, way.said));
            CHECK(count(done.out, std::string(" saw: member 3 ")) == 3);
            CHECK(run.nobody_left());
        }
}

TEST_CASE("what all ranks of a node fail with is said once") {
    for (const std::string& program : nodes_programs()) {
        Run run({"alike"}, nodes_of(3), under_mpirun(3, program));
        Done done = run.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(failed_with(3, done, program));
        for (const char* part : {"strata: error", "the matrix is singular", "case.toml:12", "scale the rows"})
            CHECK(count(done.err, part) == 1);
        CHECK(run.nobody_left());
    }
    auto settings = nodes_of(1);
    settings.front() = {"STRATA_RANKS_PER_NODE", "none"};
    Run run({"hello"}, settings, under_mpirun(3, nodes_programs().front()));
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status != 0);
    CHECK(count(done.err, "strata: error") == 1);
    CHECK(count(done.err, "STRATA_RANKS_PER_NODE=none") == 1);
    CHECK(run.nobody_left());
}

// MPI's launcher then knows of the death as early as the others do, and may end them before they have said
// so.
TEST_CASE("a member whose keeper is killed ends with it, and so does the run") {
    for (const std::string& program : nodes_programs()) {
        Run run({"die", "keeper", "3", "30000"}, nodes_of(2), under_mpirun(4, program));
        const Done done = run.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status != 0);
        CHECK(run.nobody_left());
    }
}

TEST_CASE(
    "members and nodes that leave while others still meet are named, and so is who does something else") {
    for (const std::string& program : one_program()) {
        Run member({"die", "leave", "3", "20000"}, nodes_of(2), under_mpirun(4, program));
        Done done = member.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(failed_with(1, done, program));
        CHECK(has(done.err, "member 3 left the team after"));
        CHECK(member.nobody_left());
        Run node({"die", "leave_node", "1", "0"}, nodes_of(2), under_mpirun(4, program));
        done = node.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(failed_with(1, done, program));
        CHECK(has(done.err, "node 1 (members 2 to 3) left the team after"));
        CHECK(node.nobody_left());
        Run other({"die", "other", "1", "20000"}, nodes_of(1), under_mpirun(2, program));
        done = other.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(failed_with(1, done, program));
        CHECK(has(done.err, "members do not make the same calls in the same order"));
        CHECK(other.nobody_left());
    }
}

TEST_CASE("killed at random moments on any node, nobody hangs and nothing is left") {
    const auto since = static_cast<double>(time(nullptr));
    std::mt19937 random(std::random_device{}());
    for (int i = 0; i < 8; ++i) {
        const auto programs = nodes_programs();
        const std::string& program = programs[static_cast<std::size_t>(i) % programs.size()];
        const std::string victim = std::to_string(random() % 4), moment = std::to_string(random() % 40'000);
        Run run({"die", "kill", victim, moment}, nodes_of(2), under_mpirun(4, program));
        const Done done = run.wait();
        INFO(program << ": member " << victim << " after " << moment << " us\n" << done.out << done.err);
        CHECK(failed_with(137, done, program));
        CHECK(count(done.out, " saw: member " + victim + " ") == 3);
        CHECK(run.nobody_left());
        CHECK(no_segments_left(since));
    }
}

TEST_CASE("a node that is stopped is noticed by the others while it is") {
    for (const std::string& program : one_program()) {
        Run run({"wait"}, nodes_of(2), under_mpirun(4, program));
        REQUIRE(run.read_until([](const Done& so_far) { return count(so_far.out, "waits") == 4; }));
        const auto members = after(run.so_far().out, "pid"), keepers = after(run.so_far().out, "keeper");
        for (const int pid : {keepers[2], keepers[3], members[2], members[3]}) kill(pid, SIGSTOP);
        const bool seen =
            run.read_until([](const Done& so_far) { return count(so_far.out, " saw: member 2 ") == 2; });
        const Done done = run.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(seen);
        CHECK(count(done.err, "strata: error: member 2 to 3 (node 1, ") == 1);
        CHECK(done.status != 0);
        CHECK(run.nobody_left());
    }
}

TEST_CASE("a node of which everything is killed at once ends the run") {
    const auto since = static_cast<double>(time(nullptr));
    for (const std::string& program : nodes_programs()) {
        Run run({"wait"}, nodes_of(2), under_mpirun(4, program));
        REQUIRE(run.read_until([](const Done& so_far) { return count(so_far.out, "waits") == 4; }));
        const auto members = after(run.so_far().out, "pid"), keepers = after(run.so_far().out, "keeper");
        for (const int pid : {keepers[2], keepers[3], members[2], members[3]}) kill(pid, SIGKILL);
        const Done done = run.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status != 0);
        CHECK(run.nobody_left());
        CHECK(no_segments_left(since));
    }
}

TEST_CASE("when mpirun is killed its members end") {
    const auto since = static_cast<double>(time(nullptr));
    for (const std::string& program : nodes_programs()) {
        Run run({"wait"}, nodes_of(2), under_mpirun(4, program));
        REQUIRE(run.read_until([](const Done& so_far) { return count(so_far.out, "waits") == 4; }));
        kill(run.pid(), SIGKILL);
        run.wait();
        CHECK(run.nobody_left());
        CHECK(no_segments_left(since));
    }
}

TEST_CASE("the run's status is that of the member that fails") {
    for (const std::string& program : nodes_programs()) {
        Run run({"status", "2", "5"}, nodes_of(2), under_mpirun(4, program));
        const Done done = run.wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(failed_with(5, done, program));
        CHECK(run.nobody_left());
    }
}

TEST_CASE("a program that cannot join other ranks says what to do") {
    auto command = under_mpirun(2, nodes_programs().front());
    command.back() = TEST_MEMBER;
    Run run({"describe"}, nodes_of(2), command);
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status != 0);
    CHECK(count(done.err, "strata: error: this program was not linked to join") == 1);
    CHECK(has(done.err, "strata::team_mpi"));
    CHECK(has(done.err, "STRATA_LAYOUT=2x1 ./a.out"));
    CHECK(run.nobody_left());

    const Done late = Run({"late"}, nodes_of(2), under_mpirun(2, nodes_programs().front())).wait();
    INFO(late.out << late.err);
    CHECK(late.status != 0);
    CHECK(has(late.err, "MPI was initialised before the team was started"));
}

TEST_CASE("started plainly, a program that could join others is a team on one node") {
    for (const std::string& program : nodes_programs()) {
        const Done done = Run({"hello"}, layout("3x1"), program).wait();
        INFO(program << "\n" << done.out << done.err);
        CHECK(done.status == 0);
        CHECK(count(done.out, "of 3 node 0 of 1") == 3);
    }
}
