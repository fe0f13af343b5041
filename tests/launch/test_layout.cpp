#include "core/base/error.hpp"
#include "core/launch/launch.hpp"
#include "core/launch/placement.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"

using namespace strata;
using launch::Bind;
using launch::Layout;
using launch::place;
using launch::Wish;

namespace {

machine::Machine synthetic(const std::string& description) {
    return machine::read_machine(
        {.text = "synthetic:" + description, .with_devices = false, .with_limits = false});
}

/// The PU of a bound thread.
int pu(const launch::Placement& placement, size_t process, size_t thread) {
    REQUIRE(placement.threads.at(process).at(thread).size() == 1);
    return placement.threads[process][thread].front();
}

std::string refusal(const std::vector<launch::Core>& cores, const Layout& layout) {
    try {
        place(cores, layout);
    } catch (const Error& error) {
        REQUIRE(error.exit_code() == kBadInput);
        return error.text();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a layout is read as processes x threads, and nothing else is") {
    const Layout layout = launch::parse_layout("36x4");
    CHECK(layout.processes == 36);
    CHECK(layout.threads == 4);
    for (const char* text :
         {"", "x", "4", "4x", "x4", "0x1", "1x0", "-1x2", "2x2x2", "2 x2", "2X2", "99999999999x1", "1x2 "})
        CHECK_THROWS_AS(launch::parse_layout(text), Error);
}

TEST_CASE("threads fill 512 single-PU cores of 256 nodes consecutively, and none is used twice") {
    // The shape of an Origin 2000 of 512 processors: two to a node, two nodes to a router.
    const auto machine = synthetic("pack:128 numa:2 core:2 pu:1");
    const auto placement = place(machine, Wish{.layout = {64, 8, 1, Bind::core}});
    CHECK(placement.pus().size() == 512);
    CHECK(pu(placement, 0, 0) == 0);
    CHECK(pu(placement, 1, 0) == 8);
    CHECK(pu(placement, 63, 7) == 511);
}

TEST_CASE("processes of 16 threads on 2 x 64 cores in 8 domains stay within one domain each") {
    const auto machine = synthetic("pack:2 numa:4 l3:2 core:8 pu:2");
    REQUIRE(machine.domains.size() == 8);
    const auto placement = place(machine, Wish{.layout = {8, 16, 1, Bind::core}});
    for (int p = 0; p < 8; ++p)
        for (const int used : placement.pus(p)) {
            const auto& domain = machine.domains[static_cast<size_t>(p)].pus;
            CHECK(std::find(domain.begin(), domain.end(), used) != domain.end());
        }
}

TEST_CASE("SMT siblings are not cores: one PU a core, and a layout of all PUs is refused") {
    const auto machine = synthetic("pack:1 core:4 pu:2");
    const auto placement = place(machine, Wish{.layout = {1, 4, 1, Bind::core}});
    CHECK(placement.pus() == std::vector<int>{0, 2, 4, 6});
    CHECK_THROWS_AS(place(machine, Wish{.layout = {1, 8, 1, Bind::core}}), Error);
}

TEST_CASE("on a hybrid processor cores with and without SMT count one each") {
    const std::vector<launch::Core> cores = {{0, 1}, {2, 3}, {4}, {5}, {6}};
    const auto placement = place(cores, {1, 5, 1, Bind::core});
    CHECK(placement.pus() == std::vector<int>{0, 2, 4, 5, 6});
}

TEST_CASE("stride leaves cores free between neighbouring threads") {
    const auto machine = synthetic("pack:1 core:8 pu:1");
    const auto placement = place(machine, Wish{.layout = {2, 2, 2, Bind::core}});
    CHECK(placement.pus(0) == std::vector<int>{0, 2});
    CHECK(placement.pus(1) == std::vector<int>{4, 6});
    // The last thread needs its core, not the stride behind it.
    CHECK(place(machine, Wish{.layout = {1, 3, 3, Bind::core}}).pus() == std::vector<int>{0, 3, 6});
    CHECK_THROWS_AS(place(machine, Wish{.layout = {1, 4, 3, Bind::core}}), Error);
}

TEST_CASE("only allowed PUs are used, also when a core's first PU is not allowed") {
    auto machine = synthetic("pack:1 core:4 pu:2");
    machine.allowed.pus = {1, 3, 6};
    CHECK(launch::allowed_cores(machine) == std::vector<launch::Core>{{1}, {3}, {6}});
    CHECK(place(machine, Wish{.layout = {3, 1, 1, Bind::core}}).pus() == std::vector<int>{1, 3, 6});
    CHECK_THROWS_AS(place(machine, Wish{.layout = {4, 1, 1, Bind::core}}), Error);
}

TEST_CASE("the refusal of a layout says what it needs, what there is and the largest that fits") {
    const std::vector<launch::Core> four = {{0}, {1}, {2}, {3}};
    CHECK(refusal(four, {3, 2, 1, Bind::core}).find("needs 6 cores") != std::string::npos);
    CHECK(refusal(four, {3, 2, 1, Bind::core}).find("allowed: 4 cores") != std::string::npos);
    CHECK(refusal(four, {3, 2, 1, Bind::core}).find("--layout 2x2") != std::string::npos);
    CHECK(refusal(four, {1, 9, 1, Bind::core}).find("--layout 1x4") != std::string::npos);
    CHECK(refusal(four, {4, 1, 2, Bind::core}).find("--layout 2x1 with stride 2, or 4x1 with stride 1") !=
          std::string::npos);
    CHECK(refusal({{0, 4}, {1, 5}}, {4, 1, 1, Bind::core}).find("SMT") != std::string::npos);
}

TEST_CASE("an unbound layout may be larger than the machine, and each thread may use every PU") {
    const std::vector<launch::Core> cores = {{0, 2}, {1, 3}};
    const auto placement = place(cores, {5, 2, 1, Bind::none});
    CHECK(placement.threads.size() == 5);
    CHECK(placement.pus(4) == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("a placement survives being handed from the launcher to its ranks") {
    const std::vector<launch::Core> cores = {{0, 8}, {1, 9}, {2, 10}, {3, 11}};
    for (const Layout& layout :
         {Layout{2, 2, 1, Bind::core}, Layout{1, 1, 1, Bind::core}, Layout{3, 2, 1, Bind::none}}) {
        const auto placement = place(cores, layout);
        CHECK(launch::decode(launch::encode(placement), layout).threads == placement.threads);
    }
}
