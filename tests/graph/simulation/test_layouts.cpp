// Graphs on teams of processes: the same bits for every layout, and an end when a process dies.
#include <fmt/format.h>
#include <sys/wait.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.hpp"
#include "tests/graph/lines.hpp"
#include "tests/graph/simulation/measured.hpp"
#include "tests/graph/temporary.hpp"
#include "tests/team/run.hpp"

using namespace strata;
using namespace strata::team::testing;

namespace {

std::string output_of(const std::string& layout_name, std::vector<std::string> words) {
    const Done done =
        Run(std::move(words),
            layout(layout_name, layout_name == "1x1" || layout_name == "2x1" || layout_name == "1x2"))
            .wait();
    INFO(layout_name << ": " << done.err);
    REQUIRE(done.status == 0);
    REQUIRE(has(done.out, "patch 0 "));
    return graph::testing::sorted_lines(done.out);
}

}  // namespace

TEST_CASE("every layout gives the same bits: processes, threads, more than there are cores", "[native]") {
    const std::string names =
        "heat+heat-round+mixed+mixed-round+some+some-round+families+factored-round+walk+asks+deep";
    const std::string expected = output_of("1x1", {names, "40"});
    for (const std::string layout : {"2x1", "1x2", "4x1", "3x2"}) {
        CAPTURE(layout);
        CHECK(output_of(layout, {names, "40"}) == expected);
    }
}

namespace {

/// Every layout with every seed, or each layout with a seed of its own.
void same_in_any_order(bool all) {
    const std::vector<std::string> layouts = {"2x1", "3x1", "2x2"};
    // Those of mixed have many tasks, and as many delays.
    for (const auto& [names, steps] :
         {std::pair("heat-round+some+some-round+families+factored+walk+asks+deep", "30"),
          std::pair("mixed+mixed-round", all ? "30" : "14")}) {
        const std::string expected = output_of("1x1", {names, steps});
        for (std::size_t i = 0; i < layouts.size(); ++i)
            for (std::size_t j = 0; j < layouts.size(); ++j) {
                if (!all && j != i) continue;
                const std::string seed = fmt::format("seed={}", j + 1);
                CAPTURE(names, layouts[i], seed);
                CHECK(output_of(layouts[i], {names, steps, seed, "move=4"}) == expected);
            }
    }
}

}  // namespace

TEST_CASE("nor do a random order, delays and patches that go anywhere change a bit", "[native]") {
    same_in_any_order(false);
}

TEST_CASE("nor do they in any layout with any of them", "[.][soak]") { same_in_any_order(true); }

TEST_CASE("families of many sizes go on from a checkpoint on other numbers of processes, bit for bit",
          "[native]") {
    const strata::tests::TemporaryFolder folder;
    const std::string save = "save=" + folder.path().string(), restore = "restore=" + folder.path().string();
    const std::string expected = output_of("1x1", {"families", "25"});
    CHECK(output_of("3x1", {"families", "25", "move=10", save}) == expected);  // the last one is of step 20
    CHECK(output_of("1x1", {"families", "20"}) != expected);
    for (const std::string layout : {"1x1", "2x1", "4x1"})
        CHECK(output_of(layout, {"families", "25", restore}) == expected);
}

TEST_CASE("a killed run goes on from its checkpoint, bit for bit", "[native]") {
    // Factors are made anew in steps 3, 6, 9, ...; the last checkpoint is of step 8. Lists of "asks" are
    // those of the start.
    for (const std::string name : {"factored-round", "asks"}) {
        CAPTURE(name);
        const strata::tests::TemporaryFolder folder;
        const std::string save = "save=" + folder.path().string(),
                          restore = "restore=" + folder.path().string();
        const std::string expected = output_of("1x1", {name, "23"});
        Run killed({name, "23", "seed=3", "move=4", "die=8", save}, layout("3x1"));
        const Done done = killed.wait();
        REQUIRE(done.status != 0);
        CHECK(has(done.err, "SIGKILL"));
        CHECK(killed.nobody_left());
        REQUIRE(std::filesystem::exists(folder.path() / "checkpoint-000008"));
        for (const std::string layout : {"1x1", "2x2"})
            CHECK(output_of(layout, {name, "23", "seed=1", "move=5", restore}) == expected);
    }
}

TEST_CASE("patches move to where there is less to do", "[native]") {
    const auto ran = [](const std::string& on, const std::string& steps) {
        const Done done = Run({"quarter", steps}, layout(on)).wait();
        INFO(done.err);
        REQUIRE(done.status == 0);
        return std::pair(std::stod(done.out.substr(done.out.find("efficiency") + 10)),
                         done.out.substr(done.out.find("patch 0 "), 40));
    };
    CHECK(ran("2x1", "3").first < 0.6);  // nothing has been measured yet
    const std::string alone = ran("1x1", "100").second;
    const double efficiency = graph::testing::first_good_of_five(
        [&] {
            const auto [found, values] = ran("2x1", "100");
            CHECK(values == alone);
            return found;
        },
        [](double found) { return found >= 0.85; });
    CHECK(efficiency >= 0.85);
}

TEST_CASE("few subdomains move where some become dear; costs are known to their later owners", "[native]") {
    const auto ran = [](const std::string& on) {
        const Done done = Run({"dear", "60"}, layout(on)).wait();
        INFO(done.err);
        REQUIRE(done.status == 0);
        return done.out;
    };
    const auto number = [](const std::string& out, const std::string& before) {
        REQUIRE(has(out, before + " "));
        return std::stod(out.substr(out.find(before) + before.size()));
    };
    const auto values = [](const std::string& out) {
        const std::string sorted = graph::testing::sorted_lines(out);
        return sorted.substr(sorted.find("patch 0 "));
    };
    const std::string alone = values(ran("1x1"));
    for (const std::string on : {"2x1", "3x1"}) {
        const auto few_moved = [&](const std::string& out) { return number(out, "moved") < 64 / 4; };
        const auto even = [&](const std::string& out) { return number(out, "efficiency") >= 0.85; };
        // The first move had costs of one look.
        const auto settled = [&](const std::string& out) { return number(out, "moves later") <= 1; };
        const auto dear_first = [](const std::string& out) {
            return has(out, "first after a move true") && has(out, "first with other owners true") &&
                   has(out, "first in a new plan true");
        };
        const std::string out = graph::testing::first_good_of_five(
            [&] {
                const std::string found = ran(on);
                CHECK(values(found) == alone);
                return found;
            },
            [&](const std::string& found) {
                return has(found, "moved ") && few_moved(found) && even(found) && settled(found) &&
                       dear_first(found);
            });
        CAPTURE(on, out);
        CHECK(few_moved(out));
        CHECK(even(out));
        CHECK(settled(out));
        CHECK(dear_first(out));
    }
}

TEST_CASE("a process that is killed in the middle of a step ends the run with its name", "[native]") {
    Run run({"mixed", "1000000", "move=3", "die=9"}, layout("3x1"));
    const Done done = run.wait();
    CHECK(done.status != 0);
    CHECK(has(done.err, "member 1"));
    CHECK(has(done.err, "SIGKILL"));
    CHECK(run.nobody_left());
}
