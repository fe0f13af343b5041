#include "core/team/mpi/seen_binding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>

#include "core/base/cpulist.hpp"
#include "core/base/text.hpp"
#include "core/launch/bind.hpp"
#include "core/machine/machine.hpp"

namespace strata::team {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

/// The number of cores with a PU among these. Where the machine's cores are not known, each PU counts as one.
int cores_of(const std::vector<int>& pus, const machine::Machine& machine) {
    int cores = 0;
    for (const machine::Core& core : machine.cores)
        cores += std::any_of(core.pus.begin(), core.pus.end(),
                             [&](int pu) { return std::binary_search(pus.begin(), pus.end(), pu); });
    return std::max(cores, machine.cores.empty() ? static_cast<int>(pus.size()) : 1);
}

int threads_of(const SeenBinding& place, const std::vector<SeenBinding>& all,
               const machine::Machine& machine) {
    if (place.threads > 0) return place.threads;
    const auto sharing = std::count_if(all.begin(), all.end(),
                                       [&](const SeenBinding& other) { return other.pus == place.pus; });
    return std::max(1, cores_of(place.pus, machine) / static_cast<int>(sharing));
}

}  // namespace

std::vector<std::vector<int>> parse_omp_places(const std::string& text) {
    std::vector<std::vector<int>> places;
    std::vector<int>* open = nullptr;
    std::istringstream in(text);
    for (char c = 0; in.get(c);) {
        if (c == '{') {
            if (open != nullptr) return {};
            open = &places.emplace_back();
            int first = 0, count = 1;
            do {
                if (!(in >> first)) return {};
                if (in.peek() == ':' && !(in.ignore() >> count)) return {};
                for (int i = 0; i < count; ++i) open->push_back(first + i);
                count = 1;
            } while (in.get(c) && c == ',');
            if (c != '}') return {};
            std::sort(open->begin(), open->end());
            open = nullptr;
        } else if (c != ',') {
            return {};
        }
    }
    return places;
}

SeenBinding see_binding() {
    SeenBinding place{launch::affinity_of(), 0, {}};
    if (const std::string layout = variable("STRATA_LAYOUT"); !layout.empty()) {
        place.threads = launch::parse_layout(layout).threads;
        place.places = parse_omp_places(variable("OMP_PLACES"));
        if (place.places.size() != static_cast<std::size_t>(place.threads)) place.places.clear();
    } else {
        place.threads = std::max(0, parse_number<int>(variable("OMP_NUM_THREADS")).value_or(0));
    }
    return place;
}

std::string to_text(const SeenBinding& place) {
    std::string text = fmt::format("{} {}", print_cpulist(place.pus), place.threads);
    for (const auto& pus : place.places) text += ' ' + print_cpulist(pus);
    return text;
}

SeenBinding parse_binding(const std::string& text) {
    std::istringstream in(text);
    SeenBinding place;
    std::string pus;
    in >> pus >> place.threads;
    place.pus = parse_cpulist(pus);
    while (in >> pus) place.places.push_back(parse_cpulist(pus));
    return place;
}

launch::Placement placement_of(const std::vector<SeenBinding>& members,
                               const std::vector<SeenBinding>& sharing, const machine::Machine& machine) {
    launch::Placement placement;
    placement.layout.processes = static_cast<int>(members.size());
    placement.layout.bind = launch::Bind::none;
    for (const SeenBinding& member : members) {
        const int threads = threads_of(member, sharing, machine);
        placement.layout.threads = std::max(placement.layout.threads, threads);
        // Restricted to a part of the machine: the member is bound.
        std::size_t everything = 0;
        for (const machine::Core& core : machine.cores) everything += core.pus.size();
        if (member.pus.size() < everything) placement.layout.bind = launch::Bind::core;
        auto& of_threads = placement.threads.emplace_back(member.places);
        if (!of_threads.empty()) continue;
        // Whole cores in equal parts where they can be divided evenly; else each thread may use all of them.
        std::vector<std::vector<int>> cores;
        for (const machine::Core& core : machine.cores) {
            std::vector<int> pus;
            for (const int pu : core.pus)
                if (std::binary_search(member.pus.begin(), member.pus.end(), pu)) pus.push_back(pu);
            if (!pus.empty()) cores.push_back(pus);
        }
        const auto count = static_cast<std::size_t>(threads);
        const bool alone = std::count_if(sharing.begin(), sharing.end(), [&](const SeenBinding& other) {
                               return other.pus == member.pus;
                           }) == 1;
        for (std::size_t thread = 0; thread < count; ++thread) {
            if (!alone || cores.size() < count || cores.size() % count != 0) {
                of_threads.push_back(member.pus);
                continue;
            }
            auto& own = of_threads.emplace_back();
            const std::size_t each = cores.size() / count;
            for (std::size_t core = thread * each; core < (thread + 1) * each; ++core)
                own.insert(own.end(), cores[core].begin(), cores[core].end());
            std::sort(own.begin(), own.end());
        }
    }
    return placement;
}

bool are_crowded(const std::vector<SeenBinding>& members, const machine::Machine& machine) {
    std::set<int> pus;
    int threads = 0;
    for (const SeenBinding& member : members) {
        pus.insert(member.pus.begin(), member.pus.end());
        threads += threads_of(member, members, machine);
    }
    return threads > cores_of({pus.begin(), pus.end()}, machine);
}

}  // namespace strata::team
