// Where pages are told to lie, what the kernel says of them, and how that is judged on machines of several
// memories.
#include <vector>

#include "benchmarks/machine/placed_field.hpp"
#include "benchmarks/machine/placing.hpp"
#include "core/machine/machine.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;
using namespace strata::bench::machine_measures;

namespace {

strata::machine::Machine four_domains() {
    return strata::machine::read_machine({"synthetic:numa:4 core:2 pu:1", false, false});
}

Counted counted_as(std::size_t asked, const std::map<int, std::size_t>& by_memory,
                   std::size_t elsewhere = 0) {
    Counted counted;
    counted.asked = asked;
    counted.by_memory = by_memory;
    counted.elsewhere = elsewhere;
    return counted;
}

}  // namespace

TEST_CASE("a line of numa_maps gives bytes by memory") {
    const auto mapping = parse_numa_maps(
        "7f3c00200000 interleave:0-1 anon=512 dirty=512 active=0 N0=256 N1=128 kernelpagesize_kB=4");
    REQUIRE(mapping);
    CHECK(mapping->start == 0x7f3c00200000U);
    CHECK(mapping->bytes == std::map<int, std::uint64_t>{{0, 1U << 20}, {1, 1U << 19}});
    const auto file = parse_numa_maps("55d0 default file=/usr/lib/N9=5 mapped=3 N0=3 kernelpagesize_kB=4");
    REQUIRE(file);
    CHECK(file->bytes.at(0) == 3 * 4096);
    CHECK(parse_numa_maps("7f3c00200000 default")->bytes.empty());
    CHECK_FALSE(parse_numa_maps(""));
    CHECK_FALSE(parse_numa_maps("heap default N0=1"));
    CHECK_FALSE(parse_numa_maps("7f00 default N0=1"));  // of a page size that it does not say
}

TEST_CASE("every page of an array belongs to exactly one thread's block, in order") {
    for (const int threads : {1, 2, 3, 7}) {
        const Field field(100 * 4096 + 5, Pages::small, threads);
        CHECK(field.pages() == 100);
        std::size_t next = 0;
        for (int thread = 0; thread < threads; ++thread) {
            const Field::Block block = field.block(thread);
            CHECK(block.first == next);
            CHECK(block.count >= 1);
            next += block.count;
        }
        CHECK(next == 100);
    }
    CHECK(Field(1, Pages::small, 5).pages() == 5);  // never fewer pages than threads
}

TEST_CASE("a sweep of all threads leaves no wrong element, and one that misses a thread does") {
    const Field field(1 << 20, Pages::small, 3);
    for (int thread = 0; thread < 3; ++thread) field.touch(thread);
    field.sweep(0);
    field.sweep(2);
    CHECK(field.wrong() == field.doubles(field.block(1).count));
    field.sweep(1);
    CHECK(field.wrong() == 0);
}

TEST_CASE("processors and memories know their domain") {
    const Domains domains(four_domains());
    CHECK(domains.all() == std::vector<int>{0, 1, 2, 3});
    CHECK(domains.of_pu(0) == 0);
    CHECK(domains.of_pu(7) == 3);
    CHECK(domains.of_pu(99) == -1);
    CHECK(domains.of_memory(2) == 2);
    CHECK(domains.memory_of(3) == 3);
    CHECK(domains.dealt_over() == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("bound pages must lie where they were bound, dealt ones evenly") {
    const Domains domains(four_domains());
    const std::map<int, std::size_t> even = {{0, 250}, {1, 250}, {2, 250}, {3, 250}};
    CHECK(misplaced(Mode::interleave, counted_as(1000, even), domains) == 0);
    CHECK(misplaced(Mode::interleave, counted_as(1000, {{0, 500}, {1, 500}}), domains) > 900);
    CHECK(misplaced(Mode::interleave, counted_as(1000, {{0, 251}, {1, 249}, {2, 252}, {3, 248}}), domains) ==
          0);
    CHECK(misplaced(Mode::bind, counted_as(1000, even, 0), domains) == 0);
    CHECK(misplaced(Mode::bind, counted_as(1000, even, 3), domains) == 3);
    // First touch is the kernel's promise, not ours: it is shown and not judged.
    CHECK(misplaced(Mode::one, counted_as(1000, even, 1000), domains) == 0);
    const Domains one(strata::machine::read_machine({"synthetic:numa:1 core:2 pu:1", false, false}));
    CHECK(misplaced(Mode::bind, counted_as(1000, {{0, 1000}}, 1000), one) == 0);
}

TEST_CASE("the kernel's two accounts of this system's pages agree, whatever the mode") {
    const Domains domains(strata::machine::read_machine({"system", false, false}));
    for (const Mode mode : {Mode::one, Mode::threads, Mode::interleave, Mode::bind}) {
        const Field field(1 << 22, Pages::small, 1);
        const std::vector<int> cpus = {0};
        try {
            place(field, mode, 1, domains, cpus);
        } catch (const std::exception&) {
            continue;  // a container that forbids mbind
        }
        const auto counted = count(field, 1, domains, cpus, cpus);
        if (!counted) continue;  // or move_pages
        CHECK(counted->asked == Field::kArrays * field.pages());
        std::size_t sum = 0;
        for (const auto& [memory, pages] : counted->by_memory) {
            CHECK(memory >= 0);
            sum += pages;
        }
        CHECK(sum == counted->asked);
        CHECK(misplaced(mode, *counted, domains) == 0);
        const std::string check = cross_check(field, *counted);
        CHECK((check == "numa_maps agrees" || check == "numa_maps is not offered"));
    }
}
