// Menter's model at the beginning of an iteration: its turbulent viscosity depends on the gradients of the
// velocity, so it is found from the newest state of a cell and of its neighbours, also in other patches.
#include "solvers/flow/scheme/eddies.hpp"

#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

template <int Dim>
void declare_eddies(const Step& step, Scope& in) {
    if (!step.finds_eddies()) return;
    const Labels& l = step.labels;
    Task task = in.task(step.named("eddies"), step.zones());
    declare_work(task, WorkOf(Dim, step.scheme).eddies() + WorkOf(Dim, step.scheme).viscosity());
    const auto around = step.layers(2);  // as the residual: one exchange serves both
    const auto q = task.need(step.labels.q, around), k_omega = task.need(step.labels.nu_tilde, around);
    const auto geometry = task.need(step.geometry());
    const auto distance = task.need(l.distance);
    const auto viscosity = task.modify(step.labels.viscosity);
    task.run([=, &grid = step.grid, scheme = step.scheme](Here& here) {
        const Patch<Dim> patch =
            PatchGeometry<Dim>(here.cells()).patch(here[geometry], here[q], here[k_omega], here[distance]);
        eddies<Dim>(here.cells(), patch, scheme, here[viscosity]);
        for (const auto& [face, boundary] : grid.boundaries(here.patch))
            fill_border_eddies(*boundary, face, kEddy, kCross, here[viscosity]);
        step_viscosity<Dim>(here[viscosity].box(), patch, scheme, here[viscosity]);
    });
}

template void declare_eddies<2>(const Step&, Scope&);
template void declare_eddies<3>(const Step&, Scope&);

}  // namespace strata::flow
