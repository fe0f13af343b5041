#include "core/graph/expand/assign/assignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "core/balance/rebalance.hpp"
#include "core/base/error.hpp"
#include "core/graph/expand/assign/assigning.hpp"
#include "core/graph/expand/assign/partition.hpp"

namespace strata::graph {

void Assignment::number(int processes) {
    local.assign(owner.size(), {});
    for (const FamilyId f : owner.ids()) {
        std::vector<int> next(static_cast<std::size_t>(processes), 0);
        local[f].reserve(owner[f].size());
        for (const int process : owner[f]) {
            if (process < 0 || process >= processes)
                throw Error("a patch is assigned to a process that is not there")
                    .given(fmt::format("process {}", process))
                    .allowed(fmt::format("0 to {}", processes - 1));
            local[f].push_back(next[static_cast<std::size_t>(process)]++);
        }
    }
}

OwnPatches Assignment::of(int process) const {
    OwnPatches own(owner.size());
    for (const FamilyId f : owner.ids())
        for (std::size_t p = 0; p < owner[f].size(); ++p)
            if (owner[f][p] == process) own[f].push_back(static_cast<int>(p));
    return own;
}

namespace {

using namespace detail;

/// Estimated times that differ by less than this share differ by rounding.
constexpr double kSame = 1e-9;

Assignment numbered(FamilyOwners owners, int processes) {
    Assignment all;
    all.owner = std::move(owners);
    all.number(processes);
    return all;
}

/// So many patches that only loads are compared.
FamilyOwners assign_many(const Graph& graph, int processes) {
    const PatchCosts costs = declared_costs(graph);
    FamilyOwners apart = share_apart(graph, costs, {}, processes);
    const bool small = std::any_of(costs.begin(), costs.end(), [&](const auto& family) {
        return static_cast<int>(family.size()) < processes;
    });
    if (!small) return apart;
    FamilyOwners around = share_around(graph, places_along(graph, costs, {}), costs, processes);
    if (around.empty()) return apart;
    const double before = balance::longest_time(costs, apart, processes);
    return balance::longest_time(costs, around, processes) <= (1 - kLeastGain) * before ? around : apart;
}

FamilyOwners assign_few(const Graph& graph, int processes, Library library) {
    const PatchCosts costs = declared_costs(graph);
    const Exchanges exchanges = find_exchanges(graph);
    const auto time = [&](const FamilyOwners& owners) {
        return step_time(graph, costs, exchanges, owners, processes);
    };
    FamilyOwners best = share_apart(graph, costs, exchanges.transfers, processes);
    double least = time(best);
    // The loads are nearly the same. What differs is the bytes that are copied, which are known exactly.
    FamilyOwners across = share_apart(graph, costs, exchanges.transfers, processes, Cut::across);
    if (const double needed = time(across); needed < (1 - kSame) * least) {
        least = needed;
        best = std::move(across);
    }
    least *= 1 - kLeastGain;
    const auto take_better = [&](FamilyOwners other) {
        if (other.empty()) return;
        const double needed = time(other);
        if (needed >= least) return;
        least = needed;
        best = std::move(other);
    };
    const std::vector<double> places = places_along(graph, costs, exchanges.transfers);
    take_better(share_around(graph, places, costs, processes));
    take_better(share_along(places, costs, processes));
    if (library == Library::where_found && can_partition())
        take_better(share_by_bytes(graph, places, costs, exchanges, processes));
    return best;
}

std::vector<std::byte> written(const Assignment& assignment) {
    std::vector<std::byte> all;
    for (const auto& owners : assignment.owner) {
        const auto bytes = std::as_bytes(std::span(owners));
        all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
}

}  // namespace

int detail::count_patches(const Graph& graph) {
    int all = 0;
    for (const auto& family : graph.families()) all += family->patches();
    return all;
}

Assignment assign(const Graph& graph, int processes, Library library) {
    const int patches = count_patches(graph);
    if (processes == 1) {
        FamilyOwners all;
        for (const auto& family : graph.families())
            all.emplace_back(static_cast<std::size_t>(family->patches()), 0);
        return numbered(std::move(all), 1);
    }
    return numbered(
        patches > kMostExchanging ? assign_many(graph, processes) : assign_few(graph, processes, library),
        processes);
}

Assignment assign(const Graph& graph, const Members& members, std::uint64_t serial) {
    if (members.size == 1 || !can_partition() || count_patches(graph) > kMostExchanging)
        return assign(graph, members.size);
    std::vector<std::byte> told;
    if (members.rank == 0) told = written(assign(graph, members.size, Library::where_found));
    if (members.messages != nullptr) {  // to the first process of each node
        std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(members.size));
        for (std::size_t node = 1; members.rank == 0 && node + 1 < members.firsts.size(); ++node)
            to[static_cast<std::size_t>(members.firsts[node])] = told;
        auto from = members.messages->exchange(to);
        if (members.rank != 0) told = std::move(from.front());
    }
    const std::string name = fmt::format("graph.{}.assignment", serial);
    const bool first = members.rank == members.first();
    const SharedMemory shown = first ? SharedMemory(members, name, told.size()) : SharedMemory();
    if (first) std::copy(told.begin(), told.end(), shown.data());
    members.meet();
    const std::byte* next = first ? shown.data() : SharedMemory::of_other(members, name);
    Assignment all;
    for (const auto& family : graph.families()) {
        auto& owners = all.owner.emplace_back(static_cast<std::size_t>(family->patches()));
        std::memcpy(owners.data(), next, owners.size() * sizeof(int));
        next += owners.size() * sizeof(int);
    }
    members.meet();  // all have read it
    all.number(members.size);
    return all;
}

FamilyId number_of(const Graph& graph, const Family& family) {
    const auto& all = graph.families();
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.get() == &family; });
    if (at == all.end())
        throw Error(fmt::format("family '{}' does not belong to graph '{}'", family.name(), graph.name()))
            .remedy("make it with Graph::grid() or Graph::add()");
    return FamilyId(at - all.begin());
}

}  // namespace strata::graph
