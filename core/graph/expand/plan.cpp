// The plan's life: made anew, or in place of another one.
#include <cstring>

#include "core/graph/expand/builder.hpp"
#include "core/graph/expand/values.hpp"

namespace strata::graph {

Plan::Plan(const Graph& graph, const Resolved& resolved, const Assignment& assignment, const Members& members,
           int threads, std::uint64_t serial)
    : graph_(graph),
      resolved_(resolved),
      assignment_(assignment),
      members_(members),
      memory_(graph, resolved, assignment_, members, serial) {
    for (std::size_t s = 0; s < resolved.storages.size(); ++s) {
        const LabelInfo& label = label_of(graph, resolved.storages[s]);
        if (label.kind != Kind::scalar) continue;
        const Spot& spot = memory_.own(static_cast<int>(s), 0);
        for (int b = 0; b < resolved.storages[s].depth; ++b) write_first(label, spot.origin + b * spot.turn);
    }
    detail::PlanBuilder(*this, threads).build(serial);
    members_.meet();  // nobody runs before all have looked up what they read
}

Plan::Plan(const Plan& old, const Assignment& assignment, int threads, std::uint64_t serial,
           const std::vector<Epoch>& rounds)
    : Plan(old.graph_, old.resolved_, assignment, old.members_, threads, serial) {
    steps_before_ = old.steps_before_;
    for (std::size_t s = 0; s < resolved_.storages.size(); ++s)
        if (resolved_.storages[s].kept) take_over(old, static_cast<int>(s));
    const auto set = [&](const Block& block, const auto& again) -> void {
        for (const auto& list : block.order)
            for (const std::uint32_t op : list)
                step_.program.ops[op].flag->store(rounds[block.scope], std::memory_order_relaxed);
        for (const auto& inner : block.inside) again(*inner, again);
    };
    set(step_.program.step, set);
    members_.meet();
    fill_halos();
    members_.meet();  // nobody runs, or lets go of the old plan, before all have what they need of it
}

/// The values of a storage, all buffers, from whoever of this node has had the patches.
void Plan::take_over(const Plan& old, int storage) {
    const Storage& of = resolved_.storages[static_cast<std::size_t>(storage)];
    const LabelInfo& label = label_of(graph_, of);
    if (label.kind == Kind::scalar) {
        const Spot &from = old.memory_.own(storage, 0), &to = memory_.own(storage, 0);
        std::memcpy(to.origin, from.origin, static_cast<std::size_t>(of.depth * to.turn));
        return;
    }
    const auto family = static_cast<std::size_t>(number_of(graph_, *label.family));
    const std::vector<int>& mine = memory_.patches()[family];
    for (std::size_t i = 0; i < mine.size(); ++i) {
        const auto patch = static_cast<std::size_t>(mine[i]);
        if (label.kind == Kind::particles) {
            memory_.populations().take_over(
                storage,
                old.memory_.populations().of(old.assignment_.owner[family][patch], label.particle_set,
                                             old.assignment_.local[family][patch]),
                memory_.populations().own(label.particle_set, static_cast<int>(i)));
            continue;
        }
        const Spot& from = old.memory_.of(old.assignment_.owner[family][patch], storage,
                                          old.assignment_.local[family][patch]);
        const Spot& to = memory_.own(storage, static_cast<int>(i));
        for (int b = 0; b < of.depth; ++b)
            copy_box(
                values_copy(label, mine[i], from, from.origin + b * from.turn, to, to.origin + b * to.turn));
    }
}

Plan::~Plan() = default;

std::vector<std::vector<double>> Plan::take_costs() {
    std::vector<std::vector<double>> costs;
    for (const auto& patches : memory_.patches()) costs.emplace_back(patches.size(), 0.0);
    for (const Op& op : step_.program.ops) {
        if (op.go != TaskCall::go) continue;
        auto& call = *static_cast<TaskCall*>(op.what);
        if (call.here.family == nullptr) continue;  // of the whole team
        const auto family = static_cast<std::size_t>(number_of(graph_, *call.here.family));
        const auto local =
            static_cast<std::size_t>(assignment_.local[family][static_cast<std::size_t>(call.here.patch)]);
        costs[family][local] += call.seconds;
        call.seconds = 0;
    }
    return costs;
}

void Plan::fill_halos() const {
    for (const Half* half : {&start_, &step_})
        for (const auto& [storage, call] : half->refills) {
            const auto depth =
                static_cast<Epoch>(resolved_.storages[static_cast<std::size_t>(storage)].depth);
            for (Epoch buffer = 0; buffer < depth; ++buffer)
                for (const Move& move : call->moves) move.copy(move.from.at(buffer), move.to.at(buffer));
        }
}

}  // namespace strata::graph
