// Requests to patches that are not known beforehand, and gathers whose tables are in pieces. That layouts do
// not change their bits: test_layouts.cpp and test_graph_nodes.cpp, with the graph of asks.hpp.
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "core/base/error.hpp"
#include "core/graph/expand/plan.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/declared.hpp"
#include "tests/graph/expand/played_team.hpp"
#include "tests/graph/simulation/asks.hpp"

using namespace strata::graph;
using strata::graph::testing::Asks;
using strata::graph::testing::error_of;
using strata::graph::testing::FourPatches;
using strata::graph::testing::kOpen;
using strata::graph::testing::says;

namespace {

/// The error of the first steps.
std::string stopped(Graph& graph) {
    return error_of([&] {
        Simulation run(graph, Members::alone());
        run.start();
        run.advance(2);
    });
}

}  // namespace

TEST_CASE("each patch has the answers to its own requests, however many rounds that takes") {
    Asks asks(kOpen);  // its tasks compare all answers
    Simulation run(asks.graph, Members::alone());
    const Plan* const plan = &run.plan();
    run.start();
    CHECK(run.advance(25) == 25);
    CHECK(&run.plan() == plan);  // lists that change in each step need no other plan
}

TEST_CASE("a patch asks no more in a round than there is room for, and knows what is left") {
    FourPatches line;
    Requests<int, int> asks(line.graph, "asks", line.grid, line.grid, 2);
    Task task = line.graph.step().task("ask", line.grid);
    int taken = 0, left = 0;
    task.run([&, use = asks.ask(task)](Here& here) {
        taken = left = 0;
        for (int i = 0; i < 5; ++i) taken += here[use].add(3 - here.patch, i);
        left = here[use].left();
    });
    Simulation run(line.graph, Members::alone());
    run.start();
    run.advance(3);
    CHECK(taken == 2);
    CHECK(left == 3);
}

TEST_CASE("requests to themselves, to one patch, and without an answer") {
    FourPatches line;
    Requests<int, int> asks(line.graph, "asks", line.grid, line.grid, 3);
    Task ask = line.graph.step().task("ask", line.grid);
    ask.run([use = asks.ask(ask)](Here& here) {
        here[use].add(here.patch, 10 * here.patch);
        here[use].add(1, 10 * here.patch + 1);
        here[use].add(2, 10 * here.patch + 2);
    });
    Task answer = line.graph.step().task("answer", line.grid);
    answer.on([](int patch) { return patch != 2; });
    answer.run([use = asks.answer(answer)](Here& here) {
        if (here.patch == 3 && here.step == 2) return;
        const auto all = here[use];
        std::int64_t i = 0;
        for (const auto& request : all) {
            request.answer() = 1000 * here.patch + request.question() + 100 * request.from;
            const auto same = all[i++];
            if (same.from != request.from || same.asked != request.asked || same.answered != request.answered)
                here.fail("request by number");
        }
        if (all.size() != i) here.fail("number of requests");
    });
    Task take = line.graph.step().task("take", line.grid);
    int right = 0;
    take.run([&, use = asks.answers(take)](Here& here) {
        const int p = here.patch;
        const auto all = here[use];
        // Nobody answers for patch 2, and for patch 3 in the first step alone: zero.
        const int own = p == 2 || (p == 3 && here.step == 2) ? 0 : 1000 * p + 110 * p;
        right += all.size() == 3 && all[0] == own && all[1] == 1000 + 110 * p + 1 && all[2] == 0;
    });
    Simulation run(line.graph, Members::alone());
    run.start();
    run.advance(2);
    CHECK(right == 8);
}

TEST_CASE("a search in a part of the step that does not always run leaves a list for all steps") {
    FourPatches line;
    const auto u = line.graph.field<double>("u", line.grid, On::cells);
    const auto due = line.graph.scalar<double>("due");
    Requests<int, int> search(line.graph, "search", line.grid, line.grid, 1);
    LocalGather donors(line.graph, "donors", line.grid, line.grid, 1);
    Task make = line.graph.step().task("make u", line.grid);
    make.run([to = make.make(u)](Here& here) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i)
            here[to](i) = 100.0 * static_cast<double>(here.step) + i;
    });
    Task once = line.graph.step().once("due");
    once.run([to = once.make(due)](Here& here) { here[to] = here.step % 3 == 1; });
    Scope& when = line.graph.step().when<double>("when due", due.at(0), [](double yes) { return yes > 0; });
    Task ask = when.task("ask", line.grid);
    ask.run([use = search.ask(ask)](Here& here) {
        here[use].add((here.patch + static_cast<int>(here.step)) % 4, static_cast<int>(here.step));
    });
    Task answer = when.task("answer", line.grid);
    answer.run([use = search.answer(answer)](Here& here) {
        for (const auto& request : here[use]) request.answer() = request.question() % 2;
    });
    Task set = when.task("set", line.grid);
    set.run([use = search.answers(set), list = donors.set(set)](Here& here) {
        here[list].add((here.patch + static_cast<int>(here.step)) % 4, here[use][0]);
    });
    const auto values = donors.gather(line.graph.step(), u);
    Task look = line.graph.step().task("look", line.grid);
    int right = 0;
    look.run([&, got = values.need(look)](Here& here) {
        const std::int64_t found = (here.step - 1) / 3 * 3 + 1;  // the step of the last search
        const std::int64_t cell = (here.patch + found) % 4 * 2 + found % 2;
        right += here[got][0] == 100.0 * static_cast<double>(here.step) + static_cast<double>(cell);
    });
    Task first = line.graph.start().task("first", line.grid);
    first.run([list = donors.set(first)](Here&) {});
    Simulation run(line.graph, Members::alone());
    run.start();
    run.advance(10);
    CHECK(right == 40);
}

TEST_CASE("quotients by multiplication are those by division") {
    for (const int divisor : {1, 2, 3, 7, 16, 31, 32, 641, 65'537, 2'147'483'647}) {
        const detail::Quotient quotient(divisor);
        for (const std::uint32_t n : {0u, 1u, 2u, 640u, 641u, 65'536u, 2'147'483'646u, 2'147'483'647u})
            for (const std::uint32_t number : {n, n - n % static_cast<std::uint32_t>(divisor)})
                CHECK(quotient.of(number) == number / static_cast<std::uint32_t>(divisor));
    }
}

TEST_CASE("requests that cannot be are refused with what to do") {
    FourPatches line;
    Grid& other = line.graph.grid("other", {.cells = {{0, 0, 0}, {4, 1, 1}}, .patch_cells = {2, 1, 1}});
    CHECK(says(error_of([&] { Requests<int, int>(line.graph, "none", other, line.grid, 0); }),
               {"requests 'none' have no room", "at most 0", "1 or more"}));
    Requests<int, int> asks(line.graph, "asks", other, line.grid, 2);
    Task wrong = line.step("wrong");
    CHECK(says(error_of([&] { (void)asks.ask(wrong); }),
               {"task 'wrong' of graph 'solver' asks in 'asks'", "the patches of 'grid'", "of 'other'"}));
    CHECK(says(error_of([&] { (void)asks.answers(wrong); }), {"takes answers in 'asks'"}));
    Task too = line.graph.step().task("too", other);
    CHECK(says(error_of([&] { (void)asks.answer(too); }), {"task 'too'", "answers in 'asks'"}));
}

TEST_CASE("answers of a round before are refused, and requests from two scopes of a step") {
    {
        FourPatches line;
        Requests<int, int> asks(line.graph, "asks", line.grid, line.grid, 2);
        Task ask = line.start("ask"), answer = line.step("answer");
        (void)asks.ask(ask), (void)asks.answer(answer);
        CHECK(says(line.refused(), {"requests 'asks' are used in another round", "keep what was found"}));
    }
    {
        FourPatches line;
        Requests<int, int> asks(line.graph, "asks", line.grid, line.grid, 2);
        Scope& inner = line.graph.step().subcycle("inner", 2);
        Task ask = line.step("ask"), more = inner.task("ask more", line.grid);
        (void)asks.ask(ask), (void)asks.ask(more);
        more.run([](Here&) {});
        CHECK(says(line.refused(), {"the requests 'asks' are sent off in scope", "of their own"}));
    }
}

TEST_CASE("a request to no patch, a list without room and an entry that is not there end the run") {
    const auto stops = [](auto declare) {
        FourPatches line;
        declare(line);
        return stopped(line.graph);
    };
    CHECK(says(
        stops([](FourPatches& line) {
            Requests<int, int> asks(line.graph, "asks", line.grid, line.grid, 2);
            Task ask = line.graph.step().task("ask", line.grid);
            ask.run([use = asks.ask(ask)](Here& here) { here[use].add(4, 1); });
        }),
        {"task 'ask', patch 0 of 'grid', step 1: 'asks' asks patch 4 of 'grid', which has patches 0 to 3"}));
    const auto gathers = [](FourPatches& line, int count, int entry) {
        const auto u = line.graph.field<double>("u", line.grid, On::cells);
        Task make = line.graph.step().task("make", line.grid);
        make.run([to = make.make(u)](Here& here) { here[to](here.cells().lo[0]) = 1; });
        LocalGather donors(line.graph, "donors", line.grid, line.grid, 2);
        Task set = line.graph.step().task("set", line.grid);
        set.run([=, list = donors.set(set)](Here& here) {
            for (int i = 0; i < count; ++i) here[list].add(0, entry);
        });
        (void)donors.gather(line.graph.step(), u);
    };
    CHECK(says(stops([&](FourPatches& line) { gathers(line, 3, 0); }),
               {"task 'set'", "adds more values to a list than the 2 that it has room for"}));
    CHECK(says(stops([&](FourPatches& line) { gathers(line, 1, 2); }),
               {"task 'donors: 'u'', patch 0 of 'grid', step 1: a list takes entry 2 of this patch, which "
                "has 0 to 1"}));
}

namespace {

/// Bytes of a process of a team, one node of which is planned: each process has the same number of patches of
/// two grids of the same size, which gather from each other.
struct Counted {
    std::int64_t declared = 0;  // of the graph, resolved, which is the same for all processes
    std::int64_t assigned = 0;  // of the assignment
    std::int64_t planned = 0;   // of the plan, in memory of its own and of the node, without values
    std::int64_t values = 0;    // of the lists
    std::size_t streams = 0;    // of messages
};
Counted count(int patches, int processes, int on_node) {
    constexpr int kSources = 64;
    const auto used = [] { return static_cast<std::int64_t>(*heap_bytes()); };
    Counted counted;
    std::int64_t before = used();
    Graph graph("counted");
    const GridShape shape{.cells = {{0, 0, 0}, {4 * (patches / 2), 4, 4}}, .patch_cells = {4, 4, 4}};
    Grid& a = graph.grid("a", shape);
    Grid& b = graph.grid("b", shape);
    const auto u = graph.field<double>("u", a, On::cells);
    LocalGather donors(graph, "donors", a, b, kSources);
    Task make = graph.step().task("make", a), set = graph.step().task("set", b);
    make.run([to = make.make(u)](Here&) {}), set.run([list = donors.set(set)](Here&) {});
    const auto values = donors.gather(graph.step(), u);
    Task use = graph.step().task("use", b);
    use.run([values = values.need(use)](Here&) {});
    const Resolved resolved = resolve(graph);
    counted.declared = used() - before;
    before = used();
    Assignment assignment = assign(graph, processes);
    assignment.number(processes);
    counted.assigned = used() - before;
    strata::tests::PlayedTeam team(processes, processes / on_node, 1);
    std::atomic<std::int64_t> shared = 0, values_of_all = 0;
    std::atomic<std::size_t> streams = 0;
    before = used();
    std::vector<std::unique_ptr<Plan>> plans(static_cast<std::size_t>(on_node));
    std::deque<Members> members(static_cast<std::size_t>(on_node));
    std::atomic<int> planned = 0;
    team.run([&](const Members& given) {
        const auto at = static_cast<std::size_t>(given.rank);
        members[at] = given;
        plans[at] = std::make_unique<Plan>(graph, resolved, assignment, members[at], 1, 77);
        shared += static_cast<std::int64_t>(plans[at]->shared_bytes());
        values_of_all += static_cast<std::int64_t>(bytes_of(*plans[at]).values);
        streams += plans[at]->sending(1).size();
        given.meet();
        if (given.rank == 0) counted.planned = used() - before;
        given.meet();
        plans[at]->forget_start();
        given.meet();
        plans[at].reset();
    });
    // Every plan has the assignment once more.
    counted.planned = (counted.planned + shared) / on_node - counted.assigned;
    counted.values = values_of_all / on_node;
    counted.streams = streams / static_cast<std::size_t>(on_node);
    return counted;
}

}  // namespace

TEST_CASE("what a process holds does not grow with the lists of others") {
    if (!heap_bytes()) CANNOT_TRY("this C library does not tell what it has given out");
    const Counted few = count(1'000, 20, 4), more = count(10'000, 200, 4);
    CHECK(few.values == more.values);
    CHECK(more.assigned < 9 * 10'000);
    CHECK(more.declared - few.declared < 1'000);
    // Ten times as many processes are ten times as many nodes, shared among those of this one.
    CAPTURE(few.planned, more.planned);
    CHECK(more.planned - few.planned < 180 * 200 + 45 * 2'500);
}

// STRATA_COUNT="patches processes on_node", e.g. "1000000 10000 50": prints what one process holds.
TEST_CASE("what a process holds of many patches", "[.][count]") {
    int patches = 100'000, processes = 1'000, on_node = 10;
    if (const char* asked = std::getenv("STRATA_COUNT"); asked != nullptr)
        REQUIRE(std::sscanf(asked, "%d %d %d", &patches, &processes, &on_node) == 3);
    const Counted all = count(patches, processes, on_node);
    fmt::print(
        "{} patches on {} processes, {} on a node: declared {}, assigned {}, planned {}, values {} bytes; {} "
        "streams\n",
        patches, processes, on_node, all.declared, all.assigned, all.planned, all.values, all.streams);
}
