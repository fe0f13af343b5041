// strata-npb-team: the suite over processes that share one arena, each with the threads of its crew.
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/common/team_group.hpp"
#include "core/base/error.hpp"

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        if (team.nodes() > 1)
            throw strata::Error("a team of this suite shares one memory")
                .given("members on several nodes")
                .remedy("--model mpi runs over nodes");
        strata::npb::TeamGroup group(team);
        return strata::npb::run_suite(argc, argv, group);
    });
}
