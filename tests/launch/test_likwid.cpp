// likwid-pin's strings. What is expected stands in likwid's manual page (likwid-pin(1), CPU EXPRESSION) or
// follows from its rules by counting; tests/interop compares with likwid-pin itself.
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/launch/likwid.hpp"
#include "core/launch/likwid_domains.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"

using namespace strata;
using List = std::vector<int>;

namespace {

/// The manual's machine: S0 = 0,4,1,5 and S1 = 2,6,3,7, siblings side by side.
const machine::Machine& manual() {
    static const auto made =
        machine::read_machine({"synthetic:package:2 core:2 pu:2(indexes=0,4,1,5,2,6,3,7)"});
    return made;
}

List pus(const std::string& expression, const machine::Machine& machine = manual()) {
    const auto processes = launch::likwid_pus(machine, expression);
    REQUIRE(processes.size() == 1);
    return processes.front();
}

std::string refusal(const std::string& expression, const machine::Machine& machine = manual()) {
    try {
        (void)launch::likwid_pus(machine, expression);
    } catch (const Error& error) {
        return error.text();
    }
    return "accepted";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

launch::Wish wish_of(const std::string& bind, const std::string& layout = "") {
    launch::Wish wish;
    wish.layout_given = !layout.empty();
    if (wish.layout_given) wish.layout = launch::parse_layout(layout);
    launch::parse_bind("likwid:" + bind, wish.layout);
    return wish;
}

}  // namespace

TEST_CASE("the examples of likwid's manual page give the lists that it states") {
    CHECK(pus("0,2") == List{0, 2});
    CHECK(pus("0-2") == List{0, 1, 2});
    CHECK(pus("0,2,4-6") == List{0, 2, 4, 5, 6});
    CHECK(pus("L:N:0-2") == List{0, 1, 2});
    CHECK(pus("L:0-2") == List{0, 1, 2});
    CHECK(pus("E:N:4:1:2") == List{0, 1, 2, 3});
    CHECK(pus("E:N:4:2:4") == List{0, 4, 2, 6});
    CHECK(pus("S:scatter") == List{0, 2, 1, 3, 4, 6, 5, 7});
    CHECK(pus("S0:0-1@S1:0-1") == List{0, 1, 2, 3});
}

TEST_CASE("lists in a domain count physical cores first, E: counts core by core") {
    CHECK(pus("S1:0-3") == List{2, 3, 6, 7});
    CHECK(pus("S1:3,0") == List{7, 2});
    CHECK(pus("S1:2-1") == List{6, 3});
    CHECK(pus("E:S1:4") == List{2, 6, 3, 7});
    CHECK(pus("E:S1:2:1:2:1") == List{6, 7});
    CHECK(pus("S1") == List{2, 6, 3, 7});
    CHECK(pus("N") == List{0, 4, 1, 5, 2, 6, 3, 7});
    CHECK(pus("D1:0@M0:0") == List{2, 0});
    CHECK(pus("S:scatter:3") == List{0, 2, 1});
    CHECK(pus("S:balanced:3") == List{0, 4, 2});
}

TEST_CASE("caches, dies and NUMA nodes are likwid's domains too") {
    const auto machine =
        machine::read_machine({"synthetic:package:2 die:2 numa:2 l3:2 core:2 pu:1"});  // 32 cores
    CHECK(pus("C5:0-1", machine) == List{10, 11});
    CHECK(pus("M3:0,3", machine) == List{12, 15});
    CHECK(pus("D1", machine) == List{8, 9, 10, 11, 12, 13, 14, 15});
    CHECK(pus("D3:0", machine) == List{24});
    CHECK(pus("S1:0", machine) == List{16});
    CHECK(pus("D:scatter:5", machine) == List{0, 8, 16, 24, 1});
    CHECK(has(refusal("D4:0", machine), "D0-3"));
}

TEST_CASE("a node without PUs keeps its number, and a second memory of the same cores serves none") {
    const auto machine = machine::read_machine({STRATA_FIXTURES "/hbm-and-cxl.xml"});
    size_t nodes = 0;
    List seen;
    for (const auto& domain : launch::likwid_domains(machine)) {
        if (domain.name.front() != 'M') continue;
        ++nodes;
        const List own = domain.compact();
        seen.insert(seen.end(), own.begin(), own.end());
    }
    CHECK(nodes == machine.memories.size());
    CHECK(seen.size() == machine.allowed.pus.size());
}

TEST_CASE("what is refused names the part, what is there and what is allowed") {
    const std::string unknown = refusal("S0:0@S2:0");
    CHECK(has(unknown, "of which S2:0"));
    CHECK(has(unknown, "N, D0-1, M0, S0-1"));
    CHECK(has(refusal("S0:0-4"), "0-3 of S0"));
    CHECK(has(refusal("E:N:5:1:2"), "up to 4 of the 8 PUs of N"));
    CHECK(has(refusal("S0:0@0"), "names one PU twice"));
    CHECK(has(refusal("0-8"), "0-7 of the system's PUs"));
    CHECK(has(refusal("S:scatter:9"), "1 to 8"));
    for (const char* text :
         {"",   "S0:", "S0:x", "S0:0,", "0-",          "E:N",    "E:N:0",     "E:N:2:1",     "E:N:2:0:1",
          "Q",  "S",   "S:0",  "L:S0",  "L",           "S0:0:1", "X:scatter", "S:scatter:0", "S:scatter:1:2",
          "@0", "0@",  "0_",   "S0:-1", "99999999999", "S0:0 1"}) {
        INFO(text);
        CHECK(refusal(text) != "accepted");
    }
}

TEST_CASE("in a part of the machine domains hold what may be used, and a plain list is ambiguous") {
    auto part = manual();
    part.allowed.pus = {0, 1, 4, 5};  // the manual's CPU set
    CHECK(pus("L:1,3", part) == List{1, 5});
    CHECK(pus("S0", part) == List{0, 4, 1, 5});
    CHECK(has(refusal("S1:0", part), "this process may use no PU of that likwid domain"));
    CHECK(has(refusal("0,4", part), "L:N:0,4"));
    CHECK(launch::likwid_list(part, {0, 1, 5}) == "L:N:0-1,3");
    CHECK(launch::likwid_list(manual(), {0, 1, 2, 5, 4}) == "0-2,5,4");
}

TEST_CASE("a likwid string says how many threads and processes there are, and a layout must agree") {
    const auto placed = [](const launch::Wish& wish) { return launch::encode(place(manual(), wish)); };
    CHECK(placed(wish_of("S0:0-1@S1:0-1")) == "0:1:2:3");
    CHECK(placed(wish_of("S0:0-1_S1:0-1")) == "0:1;2:3");
    CHECK(placed(wish_of("S0:0-1_S1:0-1", "2x2")) == "0:1;2:3");
    CHECK(placed(wish_of("S:scatter", "2x2")) == "0:2;1:3");
    launch::Wish around = wish_of("S:scatter");  // mpirun -n 4 in the command
    around.layout.processes = 4;
    CHECK(placed(around) == "0:2;1:3;4:6;5:7");
    CHECK(place(manual(), wish_of("S0:0_S1:0")).layout.processes == 2);
    for (const auto& wrong : {wish_of("S0:0-1_S1:0-1", "2x1"), wish_of("S0:0-1_S1:0-1", "1x4"),
                              wish_of("S0:0_S1:0-1"), wish_of("S0:0-1", "1x3")})
        CHECK_THROWS_AS(place(manual(), wrong), Error);
}
