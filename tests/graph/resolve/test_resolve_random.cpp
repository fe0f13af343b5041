// Graphs of any kind, resolved and run on paper; and that the order of adding changes nothing.
#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/resolve/random_graph.hpp"
#include "tests/graph/resolve/simulated.hpp"

using namespace strata::graph;
using strata::tests::RandomGraph;
using strata::tests::Simulation;

namespace {

/// All that was resolved, by names.
std::string told(const Graph& g, const Resolved& r) {
    const auto task = [&](TaskId t) { return t ? r.tasks[t].name : std::string("-"); };
    std::map<std::string, std::string> lines;
    for (const ResolvedTask& t : r.tasks) {
        std::string& line = lines[t.name];
        line = " rank " + std::to_string(t.rank);
        for (const ResolvedUse& u : t.uses)
            line += " | " + g.labels()[u.label].name + " " + std::to_string(u.version) + " " +
                    std::to_string(u.storage.number()) + " " + std::to_string(u.back) + " by " +
                    task(u.maker);
        for (const Before& b : t.before)
            line += " < " + task(b.task) + "-" + std::to_string(b.lag) + (b.backward ? " back " : " ") +
                    task(b.through_task) + "." + std::to_string(b.through_use);
    }
    std::string all;
    for (const auto& [name, line] : lines) all += name + line + "\n";
    for (const ResolvedScope& s : r.scopes) {
        for (const auto& [own, inner] : s.order)
            all += inner ? "[" + g.scopes()[inner].name() + "] " : task(own) + " ";
        all += "by " + task(s.decided_by) + "\n";
    }
    for (const Storage& s : r.storages) {
        all += std::to_string(s.depth) + " " + std::to_string(s.kept);
        for (const LabelId l : s.labels()) all += " " + g.labels()[l].name;
        all += "\n";
    }
    for (const TaskId t : r.critical_path) all += task(t) + " > ";
    for (const std::string& w : r.warnings) all += w + "\n";
    return all;
}

}  // namespace

TEST_CASE("whatever is declared, every call finds what it was promised, in any order that is allowed") {
    std::size_t calls = 0, shared = 0, inner = 0;
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const auto graph = RandomGraph(seed).graph(0);
        INFO("seed " << seed);
        Resolved resolved;
        try {
            resolved = resolve(*graph);
        } catch (const strata::Error& error) {
            FAIL(error.text());
        }
        for (const Storage& s : resolved.storages) shared += !s.others.empty();
        inner += graph->scopes().size() > 2;
        for (std::uint64_t run = 0; run < 6; ++run) {
            Simulation simulation(*graph, resolved, strata::tests::kRandomPatches, 100 * seed + run);
            REQUIRE(simulation.run(4) == "");
            calls += simulation.calls();
        }
    }
    CHECK(calls > 100000);
    CHECK(shared > 20);
    CHECK(inner > 50);
}

TEST_CASE("the order in which tasks are added changes nothing") {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const RandomGraph random(seed);
        const auto first = random.graph(0);
        const std::string expected = told(*first, resolve(*first));
        for (std::uint64_t order = 1; order <= 3; ++order) {
            const auto other = random.graph(order);
            INFO("seed " << seed);
            REQUIRE(told(*other, resolve(*other)) == expected);
        }
    }
}

TEST_CASE("in program order labels alone mean the versions that were named") {
    for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        const RandomGraph random(seed);
        const auto named = random.graph(0), alone = random.graph(0, false);
        INFO("seed " << seed);
        REQUIRE(told(*alone, resolve(*alone)) == told(*named, resolve(*named)));
    }
}

TEST_CASE(
    "running on paper finds what is wrong: waits that are missing or too weak, memory that is shared too "
    "early") {
    int overwritten = 0, early = 0, weak = 0, shared = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const auto graph = RandomGraph(seed).graph(0);
        const Resolved resolved = resolve(*graph);
        const auto fails = [&](auto&& change) {
            Resolved changed = resolved;
            change(changed);
            for (std::uint64_t run = 0; run < 4; ++run)
                if (!Simulation(*graph, changed, strata::tests::kRandomPatches, run).run(4).empty()) return 1;
            return 0;
        };
        overwritten += fails([](Resolved& r) {
            for (ResolvedTask& t : r.tasks)
                std::erase_if(t.before, [](const Before& b) { return b.backward; });
        });
        early += fails([](Resolved& r) {
            for (ResolvedTask& t : r.tasks)
                std::erase_if(t.before, [](const Before& b) { return !b.backward; });
        });
        weak += fails([](Resolved& r) {
            for (ResolvedTask& t : r.tasks)
                for (Before& b : t.before) ++b.lag;
        });
        shared += fails([](Resolved& r) {
            for (ResolvedTask& t : r.tasks)
                for (ResolvedUse& u : t.uses) u.storage = StorageId(u.storage.number() / 2);
        });
    }
    CHECK(overwritten > 30);
    CHECK(early > 40);
    CHECK(weak > 40);
    CHECK(shared > 30);
}
