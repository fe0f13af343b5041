// Grids that move: nodes, faces and centres at the end of a step, from where they are at first.
//
// Each step begins from the nodes of the grid itself, so nothing adds up. Faces and centres are turned with
// them, and volumes stay. What faces sweep in a unit of time is a combination of volumes between levels of
// time, with the weights that differences in time have: so a uniform flow is kept.
#include <algorithm>

#include "methods/curvilinear/swept.hpp"
#include "solvers/flow/moved_nodes.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// Nodes of a patch at a level of time.
template <int Dim>
Piece nodes_at(const FieldView<const double>& nodes, const geometry::Rigid& placed) {
    Piece made(nodes.box(), Dim);
    change_all<Dim>(nodes, made.view(), placed);
    return made;
}

/// What faces sweep in a unit of time at the end of step `n`: their volume V is differentiated as
/// (3 V[n] - 4 V[n-1] + V[n-2]) / 2 dt, which is 3/2 of what is swept in the last step less 1/2 of what was
/// in the one before, over dt. The first step has two levels.
template <int Dim>
void sweep_faces(const PatchGeometry<Dim>& of, const FieldView<const double>& nodes, const Motions& motions,
                 int mesh, std::int64_t n, const ListView<double>& to) {
    // At the start faces have the speed of the first step.
    n = std::max<std::int64_t>(n, 1);
    const Piece now = nodes_at<Dim>(nodes, motions.placed(mesh, n)),
                before = nodes_at<Dim>(nodes, motions.placed(mesh, n - 1));
    const double over = 1 / motions.step;
    for (int axis = 0; axis < Dim; ++axis)
        add_swept<Dim>(axis, of.face_box(axis), before.view(), now.view(), n > 1 ? 1.5 * over : over,
                       of.speeds(to, axis));
    if (n == 1) return;
    const Piece first = nodes_at<Dim>(nodes, motions.placed(mesh, n - 2));
    for (int axis = 0; axis < Dim; ++axis)
        add_swept<Dim>(axis, of.face_box(axis), first.view(), before.view(), -0.5 * over,
                       of.speeds(to, axis));
}

template <int Dim>
void move_patch(const PatchGeometry<Dim>& of, const ListView<const double>& from, const ListView<double>& to,
                const Motions& motions, int mesh, std::int64_t n) {
    for (int axis = 0; axis < Dim; ++axis) {
        const FieldView<double> speed = of.speeds(to, axis);
        for_each(speed.box(), [&](int i, int j, int k) { speed(i, j, k) = 0; });
    }
    if (!motions.of[static_cast<std::size_t>(mesh)].moves()) {
        std::copy_n(from.data(), of.entries(false), to.data());
        return;
    }
    const geometry::Rigid placed = motions.placed(mesh, n);
    change_all<Dim>(of.nodes(from), of.nodes(to), placed);
    change_all<Dim>(of.centres(from), of.centres(to), placed);
    for (int axis = 0; axis < Dim; ++axis)
        change_all<Dim>(of.faces(from, axis), of.faces(to, axis),
                        [&](const Real3& s) { return placed.vector(s); });
    copy_cells(of.around(), 1, of.volumes(from), of.volumes(to));
    sweep_faces<Dim>(of, of.nodes(from), motions, mesh, n, to);
}

}  // namespace

template <int Dim>
void declare_motion(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const bool at_start = &in == &step.graph.start();
    Task task = in.task(step.named(at_start ? "first places" : "motion"), step.zones());
    const auto geometry = task.need(l.geometry.last());
    const auto moved = task.make(l.moved);
    const auto x = at_start ? task.modify(l.x) : task.make(l.x);
    task.run([=, &grid = step.grid](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        move_patch<Dim>(of, here[geometry], here[moved], grid.motions(),
                        grid.mesh_of(grid.zones().zone_of(here.patch)), here.step);
        const auto nodes = of.nodes(here[moved]);
        const auto shown = here[x];
        for (int d = 0; d < Dim; ++d)
            for_each(shown.box(),
                     [&](int i, int j, int k) { shown(i, j, k, d) = nodes(i, j, Dim == 2 ? 0 : k, d); });
    });
}

template void declare_motion<2>(const Step&, Scope&);
template void declare_motion<3>(const Step&, Scope&);

}  // namespace strata::flow
