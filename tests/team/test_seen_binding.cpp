// From what members see of their own binding to a placement that all know.
#include "core/machine/machine.hpp"
#include "core/team/mpi/seen_binding.hpp"
#include "tests/catch.hpp"

using namespace strata;
using namespace strata::team;

namespace {

/// Two packages of four cores with two PUs each: PU i and i + 8 are core i.
machine::Machine sixteen() {
    machine::Machine machine;
    for (int core = 0; core < 8; ++core) {
        machine::Core& made = machine.cores.emplace_back();
        made.index = core;
        made.pus = {core, core + 8};
    }
    return machine;
}

}  // namespace

TEST_CASE("OpenMP's explicit places are read, other forms are not") {
    using Places = std::vector<std::vector<int>>;
    CHECK(parse_omp_places("{0},{4:2},{8,12}") == Places{{0}, {4, 5}, {8, 12}});
    CHECK(parse_omp_places("cores").empty());
    CHECK(parse_omp_places("{0:").empty());
    CHECK(parse_omp_places("").empty());
}

TEST_CASE("what a member sees survives its way to the others") {
    const SeenBinding place{{0, 1, 8, 9}, 2, {{0, 8}, {1, 9}}};
    const SeenBinding read = parse_binding(to_text(place));
    CHECK(read.pus == place.pus);
    CHECK(read.threads == 2);
    CHECK(read.places == place.places);
}

TEST_CASE("a member that mpirun gave cores of its own has a thread on each, unless it says otherwise") {
    const machine::Machine machine = sixteen();
    const SeenBinding first{{0, 1, 8, 9}, 0, {}}, second{{2, 3, 10, 11}, 0, {}};
    const launch::Placement placement = placement_of({first, second}, {first, second}, machine);
    CHECK(placement.layout.bind == launch::Bind::core);
    CHECK(placement.layout.processes == 2);
    CHECK(placement.layout.threads == 2);
    CHECK(placement.threads ==
          std::vector<std::vector<std::vector<int>>>{{{0, 8}, {1, 9}}, {{2, 10}, {3, 11}}});
    CHECK_FALSE(are_crowded({first, second}, machine));

    const SeenBinding one{{0, 1, 8, 9}, 1, {}};
    CHECK(placement_of({one, second}, {one, second}, machine).threads.front() ==
          std::vector<std::vector<int>>{{0, 1, 8, 9}});
}

TEST_CASE("members that may run anywhere share the cores, and are crowded when they are more") {
    const machine::Machine machine = sixteen();
    SeenBinding anywhere;
    for (int pu = 0; pu < 16; ++pu) anywhere.pus.push_back(pu);
    const std::vector<SeenBinding> four(4, anywhere), nine(9, anywhere);
    const launch::Placement placement = placement_of(four, four, machine);
    CHECK(placement.layout.bind == launch::Bind::none);
    CHECK(placement.layout.threads == 2);
    CHECK(placement.threads[3] == std::vector<std::vector<int>>(2, anywhere.pus));
    CHECK_FALSE(are_crowded(four, machine));
    CHECK(are_crowded(nine, machine));
}

TEST_CASE("nodes that one machine plays share its cores too") {
    const machine::Machine machine = sixteen();
    SeenBinding anywhere;
    for (int pu = 0; pu < 16; ++pu) anywhere.pus.push_back(pu);
    const std::vector<SeenBinding> node(2, anywhere), all(8, anywhere);
    CHECK(placement_of(node, node, machine).layout.threads == 4);
    const launch::Placement placement = placement_of(node, all, machine);
    CHECK(placement.layout.processes == 2);
    CHECK(placement.layout.threads == 1);
    // The last of its node, yet not alone: the other node's may run there as well.
    CHECK(placement_of({anywhere}, node, machine).threads[0][0] == anywhere.pus);
}
