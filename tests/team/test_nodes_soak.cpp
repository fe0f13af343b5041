// Deaths by the hundred over several nodes.
#include <fmt/format.h>
#include <sys/wait.h>

#include <random>

#include "tests/catch.hpp"
#include "tests/team/nodes_run.hpp"

using namespace strata::team::testing;

TEST_CASE("members killed at 200 random moments on any of several nodes: nobody hangs, nothing is left") {
    std::mt19937 random(std::random_device{}());
    const auto before = shared_memory();
    const auto programs = nodes_programs();
    for (int i = 0; i < 200; ++i) {
        const int ranks = 2 + static_cast<int>(random() % 7), per_node = 1 + static_cast<int>(random() % 4);
        const std::string victim = std::to_string(random() % static_cast<unsigned>(ranks));
        const std::string moment = std::to_string(random() % 60'000);
        const std::string& program = programs[static_cast<std::size_t>(i) % programs.size()];
        Run run({"die", "kill", victim, moment}, nodes_of(per_node), under_mpirun(ranks, program));
        const Done done = run.wait();
        INFO(program << ": member " << victim << " of " << ranks << ", " << per_node << " a node, after "
                     << moment << " us\n"
                     << done.out << done.err);
        CHECK(failed_with(137, done, program));
        CHECK(count(done.out, " saw: member " + victim + " ") == ranks - 1);
        CHECK(run.nobody_left());
        CHECK(no_shared_memory_left(before));
    }
}
