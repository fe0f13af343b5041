// Which core goes where: on machines that are only described.
#include "core/launch/placement.hpp"
#include "core/machine/machine.hpp"
#include "core/team/crew_table.hpp"
#include "tests/catch.hpp"
#include "tests/team/shared.hpp"

using namespace strata;
using namespace strata::team;
using namespace strata::team::testing;

namespace {

struct Described {
    Described(const std::string& text, const std::string& layout, const std::string& bind = "core")
        : machine(machine::read_machine(
              {.text = "synthetic:" + text, .with_devices = false, .with_limits = false})) {
        launch::Wish wish;
        wish.layout = launch::parse_layout(layout);
        launch::parse_bind(bind, wish.layout);
        placement = launch::place(machine, wish);
        places = crew_places(machine, placement);
        memory = std::make_unique<Zeros>(CrewTable::bytes(places));
        CrewTable::form(memory->get(), places);
    }
    [[nodiscard]] CrewTable table() const { return CrewTable(memory->get()); }
    [[nodiscard]] std::vector<int> of(int member) const {
        std::vector<int> all;
        table().places_of(member, all);
        return all;
    }
    void move(int from, int to, int n) const {
        table().change(
            [&](std::vector<int>& counts) {
                counts[static_cast<std::size_t>(from)] -= n;
                counts[static_cast<std::size_t>(to)] += n;
            },
            {}, from);
    }
    void set(const std::vector<int>& wanted) const {
        table().change([&](std::vector<int>& counts) { counts = wanted; }, {});
    }
    machine::Machine machine;
    launch::Placement placement;
    CrewPlaces places;
    std::unique_ptr<Zeros> memory;
};

}  // namespace

TEST_CASE("cores are as far from each other as the smallest thing that holds both") {
    // PUs: 2 packages of 2 domains of 2 L3 of 2 L2 of 2 cores.
    const auto machine = machine::read_machine({.text = "synthetic:package:2 numa:2 l3:2 l2:2 core:2 pu:1",
                                                .with_devices = false,
                                                .with_limits = false});
    CHECK(core_distance(machine, 0, 0) == 0);
    CHECK(core_distance(machine, 0, 1) == 2);
    CHECK(core_distance(machine, 0, 2) == 3);
    CHECK(core_distance(machine, 0, 4) == 8);
    CHECK(core_distance(machine, 0, 8) == 9);
    CHECK(core_distance(machine, 0, 16) > 16);
    CHECK(core_distance(machine, 16, 0) == core_distance(machine, 0, 16));
    CHECK(core_distance(machine, 0, 99) == 255);
}

TEST_CASE("the core that goes is the nearest to who gets it") {
    // One member for each of four domains with two caches each; a cache has three cores.
    const Described all("numa:4 l3:2 core:3 pu:1", "4x6");
    CHECK(all.of(1) == std::vector<int>{6, 7, 8, 9, 10, 11});
    all.move(0, 1, 2);  // all of 0's are as far from 1: first those in the other cache than 0's home
    CHECK(all.of(0) == std::vector<int>{0, 1, 2, 3});
    CHECK(all.of(1) == std::vector<int>{4, 5, 6, 7, 8, 9, 10, 11});
    all.move(1, 0, 2);  // and what comes back is what is nearest again
    CHECK(all.of(0) == std::vector<int>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("near is what shares a cache, not what is next in the layout") {
    // Member 0 is at home in the other domain, with one core in each cache of member 1's.
    const Described all("numa:2 l3:2 core:4 pu:1", "2x3", "8,4,1,5,2,6");
    all.move(0, 1, 1);
    CHECK(all.of(0) == std::vector<int>{0, 2});
    CHECK(all.of(1) == std::vector<int>{1, 3, 4, 5});
}

TEST_CASE("within a domain the core of the same cache goes first") {
    // Two members of two cores each in each cache of four.
    const Described all("numa:1 l3:2 core:4 pu:1", "4x2");
    all.set({1, 2, 2, 2});
    CHECK(all.of(0) == std::vector<int>{0});
    all.move(2, 3, 1);
    CHECK(all.of(3) == std::vector<int>{5, 6, 7});
    // Member 3 takes two: core 5 of its own cache first, though core 1 is free.
    all.set({1, 2, 2, 2});
    CHECK(all.of(2) == std::vector<int>{4, 5});
    all.set({1, 1, 1, 4});
    CHECK(all.of(3) == std::vector<int>{3, 5, 6, 7});
}

TEST_CASE("several that take at once each take what is near to them") {
    const Described all("numa:2 l3:2 core:4 pu:1", "4x4");  // a member for each cache
    all.set({1, 4, 4, 1});
    all.set({1, 7, 7, 1});
    CHECK(all.of(1) == std::vector<int>{1, 2, 3, 4, 5, 6, 7});
    CHECK(all.of(2) == std::vector<int>{8, 9, 10, 11, 13, 14, 15});
}

TEST_CASE("what nobody takes is the furthest from its owner's home, and is taken back first") {
    const Described all("numa:2 l3:2 core:2 pu:1", "1x8");
    all.set({3});
    CHECK(all.of(0) == std::vector<int>{0, 1, 2});
    all.set({5});
    CHECK(all.of(0) == std::vector<int>{0, 1, 2, 3, 4});
}

TEST_CASE("unbound places are all alike, and large teams have room") {
    launch::Layout layout = launch::parse_layout("3x2");
    layout.bind = launch::Bind::none;
    const auto machine =
        machine::read_machine({.text = "synthetic:core:2 pu:1", .with_devices = false, .with_limits = false});
    launch::Wish wish;
    wish.layout = layout;
    CHECK(crew_places(machine, launch::place(machine, wish)).distance.empty());

    const CrewPlaces many = CrewPlaces::even(64, 16);
    const Zeros memory(CrewTable::bytes(many));
    CrewTable::form(memory.get(), many);
    const CrewTable table(memory.get());
    std::vector<int> wanted(64, 1);
    wanted[63] = 64 * 16 - 63;
    table.change([&](std::vector<int>& counts) { counts = wanted; }, {});
    CHECK(table.counts() == wanted);
    std::vector<int> all;
    table.places_of(63, all);
    CHECK(static_cast<int>(all.size()) == wanted[63]);
    for (int m = 0; m < 64; ++m) CHECK(table.seen(m * 16).state == PlaceWord::home);
}

TEST_CASE("the word of a place keeps all that is put in") {
    const PlaceWord word{12345, 9876, PlaceWord::lent, true, 16000, 200'000};
    CHECK(PlaceWord::of(word.packed()) == word);
    const PlaceWord other{PlaceWord::kNobody, 0, PlaceWord::home, false, 1, 0};
    CHECK(PlaceWord::of(other.packed()) == other);
}
