#include "benchmarks/machine/pairs.hpp"

#include <algorithm>
#include <array>

#include "benchmarks/common/random.hpp"

namespace strata::bench::machine_measures {

const char* text(Shared shared) {
    switch (shared) {
        case Shared::cache2:
            return "same L2";
        case Shared::cache3:
            return "same L3";
        case Shared::domain:
            return "same domain, other L3";
        case Shared::package:
            return "same package, other domain";
        default:
            return "other package";
    }
}

Shared shared_by(const machine::Machine& machine, int core_a, int core_b) {
    const auto has = [](const machine::Cache& cache, int core) {
        return std::find(cache.cores.begin(), cache.cores.end(), core) != cache.cores.end();
    };
    bool third = false;
    for (const machine::Cache& cache : machine.caches) {
        if (cache.type == "instruction" || !has(cache, core_a) || !has(cache, core_b)) continue;
        if (cache.level <= 2) return Shared::cache2;
        third = true;
    }
    if (third) return Shared::cache3;
    const machine::Core& a = machine.cores[static_cast<std::size_t>(core_a)];
    const machine::Core& b = machine.cores[static_cast<std::size_t>(core_b)];
    if (a.domain == b.domain) return Shared::domain;
    return a.package == b.package ? Shared::package : Shared::nothing;
}

std::vector<std::pair<int, int>> choose_pairs(const machine::Machine& machine, std::span<const int> cores,
                                              std::size_t most, std::uint64_t seed) {
    std::array<std::vector<std::pair<int, int>>, kSharedKinds> kinds;
    std::size_t all = 0;
    for (std::size_t a = 0; a < cores.size(); ++a) {
        for (std::size_t b = a + 1; b < cores.size(); ++b, ++all) {
            const auto kind = static_cast<std::size_t>(shared_by(machine, cores[a], cores[b]));
            kinds[kind].emplace_back(static_cast<int>(a), static_cast<int>(b));
        }
    }
    std::vector<std::pair<int, int>> chosen;
    if (all <= most) {
        for (const auto& kind : kinds) chosen.insert(chosen.end(), kind.begin(), kind.end());
        return chosen;
    }
    std::uint64_t drawn = 0;
    for (auto& kind :
         kinds)  // Fisher and Yates, with our own generator: the standard's shuffle differs between libraries
        for (std::size_t i = kind.size(); i > 1; --i)
            std::swap(kind[i - 1], kind[random_bits(drawn++, seed) % i]);
    for (std::size_t turn = 0; chosen.size() < most; ++turn)
        for (const auto& kind : kinds)
            if (turn < kind.size() && chosen.size() < most) chosen.push_back(kind[turn]);
    return chosen;
}

}  // namespace strata::bench::machine_measures
