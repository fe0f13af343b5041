// Crews from C and from Fortran.
#include "tests/catch.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

TEST_CASE("every call of crews from C does what it says") {
    Run run({"calls"}, layout("2x2"), TEST_CREW_C);
    const Done done = run.wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(done.err.empty());
    CHECK(count(done.out, ": calls") == 2);
    CHECK(run.nobody_left());
}

TEST_CASE("what crews refuse comes back as a code, or ends the run with one message") {
    const Done errors = Run({"errors"}, layout("2x2"), TEST_CREW_C).wait();
    INFO(errors.out << errors.err);
    CHECK(errors.status == 0);
    CHECK(errors.err.empty());
    CHECK(count(errors.out, ": errors") == 2);

    const Done fatal = Run({"fatal"}, layout("2x2"), TEST_CREW_C).wait();
    INFO(fatal.out << fatal.err);
    CHECK(WEXITSTATUS(fatal.status) == 2);
    CHECK(count(fatal.err, "strata: error") == 1);
    CHECK(count(fatal.err, "every member of a team keeps one thread") == 1);
    CHECK(fatal.out.empty());

    const Done before = Run({"before"}, {}, TEST_CREW_C).wait();
    CHECK(WEXITSTATUS(before.status) == 2);
    CHECK(has(before.err, "mlp_parallel needs a team"));
}

#ifdef TEST_CREW_FORTRAN
TEST_CASE("every call of crews from Fortran does what it says") {
    const Done done = Run({"calls"}, layout("2x2"), TEST_CREW_FORTRAN).wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(done.err.empty());
    CHECK(count(done.out, ": all calls") == 2);
}

TEST_CASE("OpenMP's threads in Fortran become fewer and more, and are where the cores are, when cores move") {
    // Both lead on one PU; a second one goes from member 0 to member 1 and back.
    const std::vector<int> pus = machine::own_affinity();
    if (pus.size() < 2) return;
    auto settings = layout("2x2", true);
    settings.push_back({"STRATA_TEAM_PLACEMENT", fmt::format("{0}:{1};{0}", pus[0], pus[1])});
    settings.push_back({"OMP_WAIT_POLICY", "passive"});
    const Done done = Run({"openmp"}, settings, TEST_CREW_FORTRAN).wait();
    INFO(done.out << done.err);
    CHECK(done.status == 0);
    CHECK(done.err.empty());
    const auto said = [&](const char* when, int member, int threads) {
        return has(done.out, fmt::format("{} member {}: lent {} threads {} on {}{}\n", when, member, threads,
                                         threads, pus[0], threads > 1 ? fmt::format(" {}", pus[1]) : ""));
    };
    CHECK(said("first", 0, 2));
    CHECK(said("first", 1, 1));
    CHECK(said("moved", 0, 1));
    CHECK(said("moved", 1, 2));
    CHECK(said("back", 0, 2));
    CHECK(said("back", 1, 1));
}
#endif
