#include "core/machine/core_kinds.hpp"

#include "tests/catch.hpp"

using namespace strata::machine;
using List = std::vector<int>;

namespace {

/// A kind of hwloc's: what is said of it, one core after the other in the order of the kinds.
struct Told {
    int efficiency = -1;
    std::vector<std::pair<std::string, std::string>> info;
};

Machine machine_with(const std::vector<Told>& kinds, int cores_without = 0) {
    Machine machine;
    for (int i = 0; i < static_cast<int>(kinds.size()) + cores_without; ++i) {
        Core core;
        core.index = i;
        machine.cores.push_back(core);
    }
    for (int i = 0; i < static_cast<int>(kinds.size()); ++i) {
        const Told& told = kinds[static_cast<size_t>(i)];
        machine.core_kinds.push_back({i, told.efficiency, {i}, told.info});
    }
    join_close_kinds(machine);
    for (const CoreKind& kind : machine.core_kinds)
        for (const int core : kind.cores) CHECK(machine.cores[static_cast<size_t>(core)].kind == kind.index);
    return machine;
}

Told capacity(int efficiency, const std::string& value) {
    return {efficiency, {{"FrequencyMaxMHz", "3400"}, {"LinuxCapacity", value}}};
}

}  // namespace

TEST_CASE("cores whose capacities are within a tenth are of one kind, with the ends of what it holds") {
    const Machine machine = machine_with({capacity(0, "1006"), capacity(1, "1010"), capacity(2, "1024")});
    REQUIRE(machine.core_kinds.size() == 1);
    CHECK(machine.core_kinds[0].cores == List{0, 1, 2});
    CHECK(kind_text(machine.core_kinds[0]) == "capacity 1006-1024, up to 3.40 GHz");
    CHECK_FALSE(kinds_are_ordered(machine));
}

TEST_CASE("big and little cores stay apart, each kind with limits of its own, the slowest first") {
    const Machine machine =
        machine_with({capacity(0, "707"), capacity(1, "718"), capacity(2, "1006"), capacity(3, "1024")});
    REQUIRE(machine.core_kinds.size() == 2);
    CHECK(machine.core_kinds[0].cores == List{0, 1});
    CHECK(machine.core_kinds[1].cores == List{2, 3});
    CHECK(machine.core_kinds[0].efficiency == 0);
    CHECK(machine.core_kinds[1].efficiency == 1);
    CHECK(kinds_are_ordered(machine));
}

TEST_CASE("a tenth is far, and a chain of small steps joins no ends") {
    CHECK(machine_with({capacity(0, "900"), capacity(1, "1000")}).core_kinds.size() == 2);
    CHECK(machine_with({capacity(0, "901"), capacity(1, "1000")}).core_kinds.size() == 1);
    std::vector<Told> steps;
    for (int i = 0; i < 9; ++i) steps.push_back(capacity(i, std::to_string(600 + 50 * i)));
    for (const CoreKind& kind : machine_with(steps).core_kinds) CHECK(kind.cores.size() <= 3);
}

TEST_CASE("kinds that differ in words, or in nothing that is said, stay apart") {
    const Told core{1, {{"CoreType", "IntelCore"}, {"FrequencyMaxMHz", "4700"}}};
    Told atom = core, slower = core, same = core;
    atom.info[0].second = "IntelAtom";
    atom.efficiency = same.efficiency = slower.efficiency = 0;
    slower.info[1].second = "4600";
    CHECK(machine_with({atom, core}).core_kinds.size() == 2);
    CHECK(machine_with({same, core}).core_kinds.size() == 2);
    CHECK(machine_with({slower, core}).core_kinds.size() == 1);
    slower.info.pop_back();
    CHECK(machine_with({slower, core}).core_kinds.size() == 2);
    CHECK(kind_text(machine_with({atom, core}).core_kinds[1]) == "IntelCore, up to 4.70 GHz");
    for (const char* odd : {"", "-", "fast", "3400-", "nan", "-3400"}) {
        slower = core;
        slower.info[1].second = odd;
        CHECK(machine_with({slower, core}).core_kinds.size() == 2);
    }
}

TEST_CASE("which kind is faster is taken from efficiencies, else from capacities, else not known") {
    CHECK_FALSE(kinds_are_ordered(machine_with({{-1, {{"CoreType", "a"}}}, {-1, {{"CoreType", "b"}}}})));
    const Machine by_capacity = machine_with({capacity(-1, "1024"), capacity(-1, "446")});
    CHECK(kinds_are_ordered(by_capacity));
    CHECK(by_capacity.core_kinds[0].cores == List{1});
    // A core of which nothing is known is of a kind of its own, and could be any.
    const Machine with_unknown = machine_with({capacity(0, "1024")}, 2);
    REQUIRE(with_unknown.core_kinds.size() == 2);
    CHECK(with_unknown.core_kinds[1].cores == List{1, 2});
    CHECK_FALSE(kinds_are_ordered(with_unknown));
    CHECK(kind_text(with_unknown.core_kinds[1]).empty());
    CHECK(machine_with({}, 2).core_kinds.empty());
}
