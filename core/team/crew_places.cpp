#include "core/team/crew_places.hpp"

#include <algorithm>

#include "core/machine/machine.hpp"

namespace strata::team {
namespace {

bool holds(const std::vector<int>& list, int number) {
    return std::find(list.begin(), list.end(), number) != list.end();
}

const machine::Core* core_of(const machine::Machine& machine, int pu) {
    const auto found = std::find_if(machine.cores.begin(), machine.cores.end(),
                                    [&](const machine::Core& core) { return holds(core.pus, pu); });
    return found == machine.cores.end() ? nullptr : &*found;
}

/// The firmware's distance between the memories of two domains; -1 where it states none.
double stated_distance(const machine::Machine& machine, int from, int to) {
    if (!machine.distances) return -1;
    const auto& memories = machine.distances->memories;
    const auto row_of = [&](int domain) {
        for (const int memory : machine.domains.at(static_cast<std::size_t>(domain)).memories)
            for (std::size_t row = 0; row < memories.size(); ++row)
                if (memories[row] == memory) return static_cast<long>(row);
        return -1L;
    };
    const long a = row_of(from), b = row_of(to);
    if (a < 0 || b < 0) return -1;
    return machine.distances->matrix.at(static_cast<std::size_t>(a)).at(static_cast<std::size_t>(b));
}

std::uint8_t between(const machine::Machine& machine, const machine::Core* a, const machine::Core* b) {
    constexpr int same_domain = 8, same_die = 9, beyond = 16, unstated_near = 26, unstated_far = 36;
    if (a == nullptr || b == nullptr) return 255;
    if (a == b) return 0;
    int level = same_domain;
    for (const machine::Cache& cache : machine.caches)
        if (cache.level < level && holds(cache.cores, a->index) && holds(cache.cores, b->index))
            level = cache.level;
    if (level < same_domain) return static_cast<std::uint8_t>(level);
    if (a->domain == b->domain) return same_domain;
    if (a->package == b->package && a->die == b->die) return same_die;
    const double stated = stated_distance(machine, a->domain, b->domain);
    if (stated >= 0) return static_cast<std::uint8_t>(std::clamp(beyond + stated, beyond + 0.0, 254.0));
    return a->package == b->package ? unstated_near : unstated_far;
}

}  // namespace

CrewPlaces CrewPlaces::even(int members, int threads) {
    CrewPlaces all{members, {}, {}};
    for (int member = 0; member < members; ++member)
        all.owner.insert(all.owner.end(), static_cast<std::size_t>(threads), member);
    return all;
}

std::uint8_t core_distance(const machine::Machine& machine, int from, int to) {
    return between(machine, core_of(machine, from), core_of(machine, to));
}

CrewPlaces crew_places(const machine::Machine& machine, const launch::Placement& placement) {
    CrewPlaces all{static_cast<int>(placement.threads.size()), {}, {}};
    std::vector<const machine::Core*> cores, homes;
    for (std::size_t member = 0; member < placement.threads.size(); ++member) {
        homes.push_back(core_of(machine, placement.threads[member].front().front()));
        for (const auto& pus : placement.threads[member]) {
            all.owner.push_back(static_cast<int>(member));
            cores.push_back(core_of(machine, pus.front()));
        }
    }
    if (placement.layout.bind == launch::Bind::none) return all;
    for (const machine::Core* home : homes)
        for (const machine::Core* core : cores) all.distance.push_back(between(machine, home, core));
    return all;
}

}  // namespace strata::team
