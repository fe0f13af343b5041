#include "solvers/flow/overset_balance.hpp"

#include <cmath>

#include "solvers/flow/scheme/face_flow.hpp"

namespace strata::flow {

using namespace graph;

namespace {

bool is_computed(std::int32_t status) { return status == static_cast<std::int32_t>(overset::Cell::computed); }

}  // namespace

template <int Dim>
void declare_edges(const Step& step) {
    if (!step.settings.steady()) return;
    OversetLabels& o = *step.labels.overset;
    o.edges = step.graph.field<std::int32_t>(step.named("edges of computed cells"), step.zones(), On::cells,
                                             {.kept = true});
    o.flows = step.graph.scalars<double>(step.named("flows through edges"), Reduce::sum,
                                         kEdgeFlows * static_cast<int>(o.problem->names.size()));
    Task task = step.graph.start().task(step.named("edges"), step.zones());
    const auto status = task.need(o.status(), step.layers(1).without_corners());
    const auto edges = task.make(*o.edges);
    task.run([=, &grid = step.grid](Here& here) {
        const auto is = here[status];
        const Box cells = here.cells();
        const std::array<const Boundary*, 6> on = grid.on_patch(here.patch);
        for_each(cells, [&](int i, int j, int k) {
            std::int32_t marks = 0;
            for (std::size_t n = 0; n < 2 * std::size_t{Dim} && is_computed(is(i, j, k)); ++n) {
                const std::size_t axis = n / 2;
                const bool upper = n % 2 == 1;
                Int3 next{i, j, k};
                next[axis] += upper ? 1 : -1;
                const bool beyond = upper ? next[axis] == cells.hi[axis] : next[axis] < cells.lo[axis];
                if (beyond && on[n] != nullptr) continue;  // a boundary of the mesh
                if (!is_computed(is(next[0], next[1], next[2]))) marks |= 1 << n;
            }
            here[edges](i, j, k) = marks;
        });
    });
}

EdgeFlows::EdgeFlows(const Step& step, Task& task) : scheme_(step.scheme) {
    const auto& o = step.labels.overset;
    if (step.leader != nullptr || o == nullptr || !o->flows) return;
    grid_ = &step.grid;
    edges_ = task.need(*o->edges);
    flows_ = task.contribute(*o->flows);
}

template <int Dim>
void EdgeFlows::sum(const Here& here, const Patch<Dim>& patch) const {
    if (grid_ == nullptr) return;
    const auto edges = here[edges_];
    double net = 0, into = 0;
    for_each(here.cells(), [&](int i, int j, int k) {
        const std::int32_t marks = edges(i, j, k);
        for (int n = 0; n < 2 * Dim; ++n) {
            if ((marks >> n & 1) == 0) continue;
            Int3 face{i, j, k};
            face[static_cast<std::size_t>(n / 2)] += n % 2;
            const double up = mass_flow<Dim>(patch, scheme_, n / 2, face), out = n % 2 == 1 ? up : -up;
            net += out, into += std::max(0.0, -out);
        }
    });
    const int mesh = grid_->mesh_of(grid_->zones().zone_of(here.patch));
    here[flows_].resize(kEdgeFlows * static_cast<std::int64_t>(grid_->meshes()));
    here[flows_][std::int64_t{kEdgeFlows} * mesh] = net;
    here[flows_][std::int64_t{kEdgeFlows} * mesh + 1] = into;
}

std::optional<double> lost_share(std::span<const double> flows) {
    double net = 0, into = 0;
    for (std::size_t n = 0; n + 1 < flows.size(); n += kEdgeFlows) net += flows[n], into += flows[n + 1];
    if (!(into > 0)) return std::nullopt;
    return net / into;
}

template void declare_edges<2>(const Step&);
template void declare_edges<3>(const Step&);
template void EdgeFlows::sum<2>(const Here&, const Patch<2>&) const;
template void EdgeFlows::sum<3>(const Here&, const Patch<3>&) const;

}  // namespace strata::flow
