// Halos of particles: what must hold for them, and the waits that their members add.
#include <algorithm>

#include "core/graph/resolve/model.hpp"

namespace strata::graph::resolving {

namespace {

/// The first task of the steps that uses a halo; none: no task does.
TaskId user_of(const Graph& graph, const ParticleHalo& halo) {
    for (const TaskInfo& task : graph.tasks())
        for (const Use& use : task.uses)
            if (!task.renews && use.version.label == halo.members()) return task.id;
    return {};
}

void check_scope(const Graph& graph, const Scope& scope) {
    const auto refuse = [&](const std::string& why) {
        return Error(fmt::format("graph '{}': scope '{}' {}", graph.name(), scope.name(), why));
    };
    const auto relocates = [&](SetId set) {
        return std::any_of(scope.relocations().begin(), scope.relocations().end(),
                           [&](const Scope::Relocation& each) { return each.set == set; });
    };
    const std::vector<HaloId>& renewed = scope.renewals();
    for (const ParticleHalo* halo : graph.particle_halos()) {
        const std::string& set = graph.particle_sets()[halo->set()].name;
        const auto times = std::count(renewed.begin(), renewed.end(), halo->id());
        if (times > 0 && scope.id() != kStart && !relocates(halo->set()))
            throw refuse(fmt::format("renews the halo '{}' and does not relocate '{}'", halo->name(), set))
                .remedy(
                    "relocate(set, position.last()) in the same scope: who is in a halo changes with that");
        const TaskId user = user_of(graph, *halo);
        if (times == 0 && user && relocates(halo->set()))
            throw refuse(fmt::format("relocates '{}' and does not renew the halo '{}', which task '{}' uses",
                                     set, halo->name(), graph.tasks()[user].name))
                .remedy(fmt::format("renew('{}') in the same scope", halo->name()));
    }
}

void check_position(const Graph& graph, const ParticleHalo& halo) {
    const LabelInfo& position = graph.labels()[halo.position()];
    const Grid& grid = *graph.particle_sets()[halo.set()].grid;
    if (position.components > 3)
        throw Error(fmt::format("graph '{}': the halo '{}' goes by '{}', which is no position", graph.name(),
                                halo.name(), position.name))
            .given(counted(position.components, "component"))
            .allowed("1 to 3");
    for (int a = position.components; a < 3; ++a)
        if (grid.shape().cells.extent(a) > 1)
            throw Error(
                fmt::format("graph '{}': the halo '{}' goes by '{}', but '{}' has cells in a direction "
                            "that it has no component for",
                            graph.name(), halo.name(), position.name, grid.name()))
                .given(counted(position.components, "component"))
                .allowed(fmt::format("{} or more", a + 1));
}

}  // namespace

void check_halos(const Graph& graph) {
    for (const ParticleHalo* halo : graph.particle_halos()) check_position(graph, *halo);
    for (const Scope& scope : graph.scopes()) check_scope(graph, scope);
}

void add_sums_through_halo(Model& m, TaskId renewal, const UseInRound& r, LabelId members) {
    const std::vector<UseInfo>& uses = m.uses[r.at.task];
    for (std::size_t u = 0; u < uses.size(); ++u) {
        const UseInfo& p = uses[u];
        if (p.access != Access::sum || p.relation == nullptr || p.relation->shape() != Shape::particles ||
            static_cast<const ParticleHalo*>(p.relation)->members() != members)
            continue;
        const TaskId total = m.sum_of[m.key(m.task(r.at.task).scope, p.label)];
        add_edge(m, renewal, {{total}, r.level, r.lag}, {r.at.task, static_cast<int>(u)}, true, members);
    }
}

}  // namespace strata::graph::resolving
