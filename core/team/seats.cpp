#include "core/team/seats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <sstream>

#include "core/machine/machine.hpp"
#include "core/team/collectives.hpp"

namespace strata::team {

std::string to_text(const SeatWord& word) {
    return fmt::format("{} {} {} {} {} {}", word.rank, word.size, word.arena, word.line, word.parent,
                       word.capacity);
}

std::optional<SeatWord> parse_seat(const std::string& text) {
    SeatWord word;
    std::istringstream in(text);
    if (!(in >> word.rank >> word.size >> word.arena >> word.line >> word.parent >> word.capacity)) return {};
    return word;
}

Neighbourhood neighbourhood(const machine::Machine& machine, const launch::Placement& placement) {
    Neighbourhood near{static_cast<int>(placement.threads.size()), {}, {}};
    const auto holds = [](const std::vector<int>& list, int number) {
        return std::find(list.begin(), list.end(), number) != list.end();
    };
    for (const auto& threads : placement.threads) {
        const int pu = threads.front().front();
        const auto core = std::find_if(machine.cores.begin(), machine.cores.end(),
                                       [&](const machine::Core& each) { return holds(each.pus, pu); });
        if (core == machine.cores.end()) return {near.members, {}, {}};
        // The largest cache of the core. Without a shared one, each core is alone.
        int cache = -1 - core->index, level = 0;
        for (std::size_t i = 0; i < machine.caches.size(); ++i)
            if (machine.caches[i].level > level && holds(machine.caches[i].cores, core->index)) {
                cache = static_cast<int>(i);
                level = machine.caches[i].level;
            }
        near.cache.push_back(cache);
        near.domain.push_back(core->domain);
    }
    return near;
}

void lay_out(Arena& arena, const launch::Placement& placement, const Neighbourhood& near, bool crowded,
             int first_rank, int nodes) {
    const launch::Layout& layout = placement.layout;
    arena.array<Facts>(kFactsArray, 1)[0] = {layout.processes, layout.threads, layout.stride,
                                             static_cast<std::int32_t>(layout.bind), crowded ? 1 : 0};
    const std::string word = launch::encode(placement);
    std::memcpy(arena.allocate(kPlacementArray, word.size() + 1), word.c_str(), word.size() + 1);
    static_cast<void>(arena.array<Note>(kNotesArray, static_cast<std::size_t>(near.members)));
    auto* departures = new (arena.allocate(kDeparturesArray, Departures::bytes(near.members))) Departures;
    departures->number_from(first_rank);
    const BarrierTree tree = barrier_tree(near, kFanIn, crowded);
    Barrier::form(arena.allocate(kBarrierArray, Barrier::bytes(tree)), tree);
    static_cast<void>(arena.allocate(kCollectivesArray, Collectives::bytes(near.members)));
    if (nodes > 1) static_cast<void>(arena.allocate(kNodeExchangeArray, NodeExchange::bytes(nodes)));
}

bool is_crowded(const launch::Layout& layout, long cores) {
    return static_cast<long>(layout.processes) * layout.threads > cores;
}

ReadFacts read_facts(const Arena& arena) {
    const auto* facts = static_cast<const Facts*>(arena.find(kFactsArray));
    launch::Layout layout;
    layout.processes = facts->processes;
    layout.threads = facts->threads;
    layout.stride = facts->stride;
    layout.bind = static_cast<launch::Bind>(facts->bind);
    return {launch::decode(static_cast<const char*>(arena.find(kPlacementArray)), layout),
            facts->crowded != 0};
}

}  // namespace strata::team
