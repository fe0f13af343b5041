// Which pairs of cores the cache-line measurement takes.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "benchmarks/machine/pairs.hpp"
#include "tests/catch.hpp"

using namespace strata::bench::machine_measures;
using strata::machine::Machine;

namespace {

Machine two_packages() {
    return strata::machine::read_machine({"synthetic:package:2 numa:2 l3:2 l2:2 core:2 pu:1"});
}

std::vector<int> all_cores(const Machine& machine) {
    std::vector<int> cores(machine.cores.size());
    std::iota(cores.begin(), cores.end(), 0);
    return cores;
}

}  // namespace

TEST_CASE("what two cores share is the nearest thing that holds both") {
    const Machine machine = two_packages();
    REQUIRE(machine.cores.size() == 32);
    CHECK(shared_by(machine, 0, 1) == Shared::cache2);
    CHECK(shared_by(machine, 0, 2) == Shared::cache3);
    CHECK(shared_by(machine, 0, 4) == Shared::domain);
    CHECK(shared_by(machine, 0, 8) == Shared::package);
    CHECK(shared_by(machine, 0, 16) == Shared::nothing);
}

TEST_CASE("all pairs are taken when they fit, each once") {
    const Machine machine = two_packages();
    const auto cores = all_cores(machine);
    const auto pairs = choose_pairs(machine, cores, 496, 1);
    CHECK(pairs.size() == 496);
    CHECK(std::set(pairs.begin(), pairs.end()).size() == 496);
    CHECK(std::all_of(pairs.begin(), pairs.end(), [](const auto& pair) { return pair.first < pair.second; }));
}

TEST_CASE("a sample has every kind of pair, is within its size and is the same for the same seed") {
    const Machine machine = two_packages();
    const auto cores = all_cores(machine);
    const auto pairs = choose_pairs(machine, cores, 50, 1);
    CHECK(pairs.size() == 50);
    CHECK(std::set(pairs.begin(), pairs.end()).size() == 50);
    std::map<Shared, int> kinds;
    for (const auto& [a, b] : pairs) ++kinds[shared_by(machine, a, b)];
    CHECK(kinds.size() == kSharedKinds);
    for (const auto& [kind, times] : kinds) CHECK(times == 10);
    CHECK(pairs == choose_pairs(machine, cores, 50, 1));
    CHECK(pairs != choose_pairs(machine, cores, 50, 2));
}

TEST_CASE("a kind that runs out leaves its turn to the others") {
    const Machine machine = two_packages();
    const auto pairs = choose_pairs(machine, all_cores(machine), 200, 1);
    CHECK(pairs.size() == 200);
    std::map<Shared, int> kinds;
    for (const auto& [a, b] : pairs) ++kinds[shared_by(machine, a, b)];
    CHECK(kinds[Shared::cache2] == 16);  // all there are
    CHECK(kinds[Shared::cache3] == 32);
}
