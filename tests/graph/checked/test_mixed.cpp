// Object files of a checking build and of another one in one program.
#include <array>

#include "core/base/error.hpp"
#include "core/graph/declare/graph.hpp"
#include "core/graph/declare/inside_here.hpp"
#include "tests/catch.hpp"
#include "tests/graph/checked/mixed_use.hpp"

using namespace strata;
using namespace strata::graph;

TEST_CASE("object files of a checking build and of another one can be linked: each keeps its own accesses") {
    Graph graph("g");
    Grid& grid = graph.grid("grid", {{{0, 0, 0}, {4, 4, 1}}, {4, 4, 1}, {}, {}, {1, 1, 1}});
    const auto total = graph.scalar<double>("total", Reduce::sum);
    Task reads = graph.step().task("reads", grid);
    Task other = graph.step().task("other", grid);
    const ScalarUse<const double> use = reads.need(total);
    double value = 3;
    std::array<UseData, 1> data{};
    data[0].origin = reinterpret_cast<std::byte*>(&value);
    Moved moved;
    const std::array<CallData::MovedOfSet, 1> moves{{{SetId(0), &moved}}};
    Here here;
    here.patch = 0;
    CallData& call = InsideHere::of(here);
    call.family = &grid;
    call.use_data = data;
    call.moves = moves;
    call.task = &other.info();  // which did not declare the scalar

    const ScalarUse<double> same{use.index, use.task};
    CHECK(unchecked_scalar(here, same) == 3);
    CHECK_THROWS_AS(checked_scalar(here, same), Error);
    CHECK_FALSE(unchecked_moved(here, SetId(0)));
    CHECK(checked_moved(here, SetId(0)));
}
