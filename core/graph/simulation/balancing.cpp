#include "core/graph/simulation/balancing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/balance/rebalance.hpp"

namespace strata::graph {

namespace {

std::string name(std::uint64_t serial, int process) {
    return fmt::format("graph.{}.costs.{}", serial, process);
}

}  // namespace

/// Exchanges the measured costs of all processes' patches. Returns [family][patch].
VectorBy<FamilyId, std::vector<double>> Balancer::share(Plan& plan, std::uint64_t serial) {
    const Members& members = plan.members();
    const Assignment& now = plan.assignment();
    const auto mine = plan.take_costs();
    std::size_t count = 0;
    for (const auto& family : mine) count += family.size();
    const SharedMemory told(members, name(serial, members.rank), count * sizeof(double));
    auto* next = told.as<double>();
    for (const auto& family : mine) next = std::copy(family.begin(), family.end(), next);
    members.meet();
    std::vector<std::vector<std::byte>> from_afar;
    if (members.messages != nullptr) {
        const auto bytes = std::as_bytes(std::span(told.as<double>(), count));
        from_afar = members.messages->exchange(std::vector<std::vector<std::byte>>(
            static_cast<std::size_t>(members.size), {bytes.begin(), bytes.end()}));
    }
    std::vector<const double*> tables;
    for (int process = 0; process < members.size; ++process)
        tables.push_back(reinterpret_cast<const double*>(
            process == members.rank        ? told.data()
            : !members.is_on_node(process) ? from_afar[static_cast<std::size_t>(process)].data()
                                           : SharedMemory::of_other(members, name(serial, process))));
    VectorBy<FamilyId, std::vector<double>> costs(now.owner.size());
    std::vector<std::size_t> before(tables.size(), 0);  // patches of families already read
    for (const FamilyId f : now.owner.ids()) {
        std::vector<std::size_t> here(tables.size(), 0);
        for (std::size_t p = 0; p < now.owner[f].size(); ++p) {
            const auto process = static_cast<std::size_t>(now.owner[f][p]);
            costs[f].push_back(tables[process][before[process] + static_cast<std::size_t>(now.local[f][p])]);
            ++here[process];
        }
        for (std::size_t i = 0; i < here.size(); ++i) before[i] += here[i];
    }
    members.meet();  // no process frees its costs before all have read them
    return costs;
}

std::optional<Assignment> Balancer::decide(Plan& plan, std::uint64_t serial) {
    const int processes = plan.members().size;
    if (processes == 1) return std::nullopt;
    balance::smooth(costs_, share(plan, serial), rule_.weight);
    Assignment next = assign(plan.graph(), processes, costs_);
    if (!balance::move_pays(costs_, plan.assignment().owner, next.owner, processes, rule_.least_gain))
        return std::nullopt;
    return next;
}

}  // namespace strata::graph
