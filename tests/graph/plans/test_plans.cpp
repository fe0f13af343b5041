// Plans are what they were when they were recorded: in plans.txt, a line for each graph and layout with the
// digest of each process's plan.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/launch/program.hpp"
#include "tests/catch.hpp"
#include "tests/graph/plans/plan_layouts.hpp"
#ifdef TEST_NODES
#include "tests/team/nodes_run.hpp"
#else
#include "tests/team/run.hpp"
#endif

using namespace strata;
using namespace strata::tests;

namespace {

constexpr const char* kRecorded = STRATA_TEST_PLANS;

/// "GRAPH LAYOUT" -> "DIGEST DIGEST ...", of processes 0, 1, ...
using Digests = std::map<std::string, std::string>;

Digests recorded() {
    Digests all;
    std::ifstream in(kRecorded);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string graph, layout, rest;
        if (line.starts_with('#') || !(words >> graph >> layout)) continue;
        std::getline(words >> std::ws, rest);
        all[graph + " " + layout] = rest;
    }
    return all;
}

std::string digests_of(const std::vector<std::string>& texts) {
    std::string all;
    for (const std::string& text : texts)
        all += fmt::format("{}{:016x}", all.empty() ? "" : " ", digest(text));
    return all;
}

/// Calls each(layout, graph, texts) for all of them, or for one graph alone.
template <class Each>
void each_plan(const Each& each, const std::string& only = "") {
    const auto go = [&](const PlannedLayout& layout, const auto& wanted) {
        LayoutPlans plans(layout);
        for (const PlannedGraph& graph : planned_graphs())
            if ((only.empty() || graph.name == only) && wanted(graph.name))
                each(layout, graph, plans.texts(graph));
    };
    for (const PlannedLayout& layout : kPlannedLayouts) go(layout, [](const std::string&) { return true; });
    for (const PlannedLayout& layout : kLargeLayouts)
        go(layout, [](const std::string& name) { return name == "heat" || name == "mixed-round"; });
}

/// Says of which processes the plans differ.
std::string differences(const std::string& name, const std::string& found, const std::string& expected) {
    if (expected.empty()) return name + ": nothing was recorded\n";
    std::istringstream now(found), then(expected);
    std::string all, a, b;
    for (int process = 0; now >> a; ++process) {
        if (!(then >> b)) b = "none";
        if (a != b) all += fmt::format("{} process {}: {}, recorded {}\n", name, process, a, b);
    }
    return all;
}

constexpr const char* kHowToSee =
    "To see what a plan is, as text:\n"
    "  STRATA_PLANS_TO=now STRATA_PLANS_OF=GRAPH test_graph_plans [.show]\n"
    "The same in a build of the commit before gives what it was; diff -r\n"
    "shows what has changed. If it was meant to: test_graph_plans [.record]\n"
    "writes plans.txt anew, to be committed with the change.";

const PlannedGraph& graph_named(const std::string& name) {
    for (const PlannedGraph& each : planned_graphs())
        if (each.name == name) return each;
    throw std::runtime_error("no graph is called " + name);
}

}  // namespace

TEST_CASE("plans are what was recorded") {
    const Digests expected = recorded();
    std::vector<std::string> all;
    each_plan(
        [&](const PlannedLayout& layout, const PlannedGraph& graph, const std::vector<std::string>& texts) {
            const std::string name = graph.name + " " + layout.name;
            const auto found = expected.find(name);
            const std::string other =
                differences(name, digests_of(texts), found == expected.end() ? "" : found->second);
            if (!other.empty()) all.push_back(other);
        });
    std::string first;
    for (std::size_t i = 0; i < std::min<std::size_t>(all.size(), 10); ++i) first += all[i];
    INFO(first << kHowToSee);
    CHECK(all.size() == 0);  // graphs and layouts that differ
}

TEST_CASE("a plan is the same when it is made again, and under another number") {
    for (const PlannedLayout& layout : kPlannedLayouts) {
        LayoutPlans plans(layout), later(layout);
        later.count_from(1'000'000'000);
        for (const char* name : {"mixed-round-moved", "cloud-far-moved", "gradients"}) {
            CAPTURE(layout.name, name);
            const std::vector<std::string> first = plans.texts(graph_named(name));
            CHECK(plans.texts(graph_named(name)) == first);
            CHECK(later.texts(graph_named(name)) == first);
        }
    }
}

namespace {

/// [graph] -> [process] -> raw text, from what plan_member has printed.
std::map<std::string, std::vector<std::string>> read_raw(const std::string& printed) {
    std::map<std::string, std::vector<std::string>> all;
    std::istringstream in(printed);
    std::string word, name;
    for (std::size_t rank = 0, bytes = 0; in >> word >> name >> rank >> bytes;) {
        REQUIRE(word == "plan");
        in.ignore(1);
        std::string text(bytes, ' ');
        in.read(text.data(), static_cast<std::streamsize>(bytes));
        REQUIRE(rank == all[name].size());
        all[name].push_back(std::move(text));
    }
    return all;
}

void compare_processes(const std::string& layout, const std::string& printed, std::size_t graphs) {
    const Digests expected = recorded();
    const auto all = read_raw(printed);
    CHECK(all.size() == graphs);
    for (const auto& [name, raw] : all) {
        CAPTURE(name, layout);
        const auto found = expected.find(name + " " + layout);
        REQUIRE(found != expected.end());
        CHECK(digests_of(canonical_texts(raw)) == found->second);
    }
}

const std::vector<std::string> kNames{"mixed-round", "gradients-moved", "cloud", "cloud-far-moved"};

std::vector<std::string> words_for(int threads) {
    std::vector<std::string> words{std::to_string(threads)};
    words.insert(words.end(), kNames.begin(), kNames.end());
    return words;
}

}  // namespace

TEST_CASE("processes of a team make the plans that threads make which play them", "[native]") {
    using namespace strata::team::testing;
    const Done done = Run(words_for(2), layout("2x1")).wait();
    INFO(done.err);
    REQUIRE(done.status == 0);
    compare_processes("2x2", done.out, kNames.size());
#ifdef TEST_NODES
    const Done nodes = Run(words_for(1), nodes_of(2), under_mpirun(4, TEST_MEMBER)).wait();
    INFO(nodes.err);
    REQUIRE(nodes.status == 0);
    compare_processes("4x1/2nodes", nodes.out, kNames.size());
#endif
}

TEST_CASE("writes plans.txt anew", "[.record]") {
    if (!is_asked_for("record]")) return;
    (void)graph_named("mpm-bar");  // a build without the solvers would leave out their plans
    std::ofstream out(kRecorded);
    out << "# Digests of plans, see test_plans.cpp: graph, layout, and of processes 0, 1, ...\n";
    each_plan(
        [&](const PlannedLayout& layout, const PlannedGraph& graph, const std::vector<std::string>& texts) {
            out << graph.name << ' ' << layout.name << ' ' << digests_of(texts) << '\n';
        });
    REQUIRE(out.flush().good());
}

TEST_CASE("writes plans as text to the folder STRATA_PLANS_TO", "[.show]") {
    if (!is_asked_for("show]")) return;
    const std::string folder = launch::environment_value("STRATA_PLANS_TO");
    const std::string only = launch::environment_value("STRATA_PLANS_OF");
    REQUIRE(folder != "");
    std::filesystem::create_directories(folder);
    const auto write = [&](const PlannedLayout& layout, const PlannedGraph& graph,
                           const std::vector<std::string>& texts) {
        std::string name = graph.name + "." + layout.name;
        std::replace(name.begin(), name.end(), '/', '-');
        for (std::size_t process = 0; process < texts.size(); ++process)
            std::ofstream(fmt::format("{}/{}.{}.txt", folder, name, process)) << texts[process];
    };
    each_plan(write, only);
}
