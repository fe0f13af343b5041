// The implicit step along lines as tasks: a pass for each axis, down the lines and up again.
#include <fmt/format.h>

#include <string>

#include "solvers/flow/judge.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// The components of a field from one on, as a field.
template <class T>
FieldView<T> components_from(const FieldView<T>& f, int first) {
    return {f.origin() + first * f.component_stride(), f.stride(1), f.stride(2), f.component_stride(),
            f.box()};
}

/// Changes of the state and of the model's variables, in one field.
template <int Dim>
Upwind both(const FieldView<const double>& f, bool turbulent) {
    if (f.origin() == nullptr) return {no_field(), no_field()};
    return {f, turbulent ? components_from(f, Dim + 2) : no_field()};
}
template <int Dim>
Unknowns both(const FieldView<double>& f, bool turbulent) {
    return {f, turbulent ? components_from(f, Dim + 2) : no_result()};
}

/// The axis of a zone's lines in a pass: first that away from walls, then the others.
int axis_of(const FlowZones& grid, int zone, int pass) {
    const int first = grid.line_axis(zone);
    return pass == 0 ? first : pass <= first ? pass - 1 : pass;
}

LineSet lines_of(const Here& here, const FlowZones& grid, int pass, bool holds) {
    const int zone = grid.zones().zone_of(here.patch), axis = axis_of(grid, zone, pass);
    const auto a = static_cast<std::size_t>(axis);
    const Box cells = here.cells();
    const Box& all = grid.zones().cells(zone);
    const auto on = grid.on_patch(here.patch);
    const auto end = [&](bool upper) {
        if (upper ? cells.hi[a] < all.hi[a] : cells.lo[a] > all.lo[a]) return LineEnd::goes_on;
        const Boundary* boundary = on[2 * a + (upper ? 1 : 0)];
        if (boundary == nullptr)
            return pass == 0 && !upper && grid.lines_meet(zone) ? LineEnd::joined : LineEnd::seam;
        if (is_viscous_wall(boundary->condition)) return LineEnd::wall;
        return about(boundary->condition).mirrors_lines ? LineEnd::mirrored : LineEnd::ends;
    };
    return {cells, axis, pass == 0, end(false), end(true), holds};
}

/// The order down (-1) or up (1) along the lines of all zones.
graph::Upwind along_lines(const Step& step, int pass, int sign) {
    Int3 towards{};
    for (int zone = 0; zone < step.zones().zones(); ++zone)
        towards[static_cast<std::size_t>(axis_of(step.grid, zone, pass))] = sign;
    return graph::upwind(towards).within_zones();
}

std::string pass_name(int pass, const char* way) { return fmt::format("lines {}, {}", pass + 1, way); }

template <int Dim>
void eliminate(const Step& step, Scope& in, int pass) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool turbulent = step.turbulent();
    Task task = in.task(step.named(pass_name(pass, "down")), step.zones());
    declare_work(task, WorkOf(Dim, scheme).elimination(pass == 0));
    const auto around = step.layers(1).without_corners();
    const auto order = along_lines(step, pass, -1);
    const auto p = static_cast<std::size_t>(pass);
    const auto q = task.need(step.labels.q, around);
    const auto viscosity = task.need(step.labels.viscosity, around);
    const auto geometry = task.need(step.geometry());
    const auto share = task.need(step.leader == nullptr ? l.share.previous() : step.leader->share.previous());
    const auto diagonal = task.need(l.diagonal);
    const bool first = pass == 0;
    const auto first_matrix = task.make(l.line_matrix.where(first));
    const auto matrix = task.need(l.line_matrix.where(!first));
    const auto nu_diagonal = task.need(l.diagonal_nu.where(turbulent));
    const auto before = task.need(first ? Field<double>() : l.lines[p - 1].changed);
    const auto residual = task.need(l.dq.where(first)),
               nu_residual = task.need(l.dnu.where(first && turbulent));
    const auto g = task.make(l.lines[p].eliminated), factors = task.make(l.lines[p].factors);
    const auto g_above = task.need(l.lines[p].eliminated, order),
               factors_above = task.need(l.lines[p].factors, order);
    task.run([=, &grid = step.grid, &s = step.settings, steered = step.cfl,
              holds = l.overset != nullptr](Here& here) {
        const Patch<Dim> patch =
            PatchGeometry<Dim>(here.cells()).patch(here[geometry], here[q], no_field(), no_field());
        eliminate_lines<Dim>(
            lines_of(here, grid, pass, holds), patch, scheme, step_size(s, *steered, here, here[share]),
            {here[diagonal], here[nu_diagonal], here[viscosity]},
            pass == 0 ? Upwind{here[residual], here[nu_residual]} : both<Dim>(here[before], turbulent),
            both<Dim>(here[g_above], turbulent), here[factors_above], both<Dim>(here[g], turbulent),
            here[factors], {here[matrix], here[first_matrix]});
    });
}

/// The last pass leaves dq.
template <int Dim>
void substitute(const Step& step, Scope& in, int pass) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool turbulent = step.turbulent(), is_last = pass == Dim - 1, holds = l.overset != nullptr;
    Task task = in.task(step.named(pass_name(pass, "up")), step.zones());
    declare_work(task, WorkOf(Dim, scheme).substitution());
    const auto order = along_lines(step, pass, 1);
    const auto p = static_cast<std::size_t>(pass);
    const bool meet = pass == 0 && step.grid.any_lines_meet();
    const auto around = meet ? step.layers(1).without_corners() : step.layers(0);
    const auto g = task.need(l.lines[p].eliminated, around), factors = task.need(l.lines[p].factors, around);
    if (!is_last) {
        const auto changed = task.make(l.lines[p].changed);
        const auto below = task.need(l.lines[p].changed, order);
        task.run([=, &grid = step.grid](Here& here) {
            substitute_lines<Dim>(lines_of(here, grid, pass, holds), scheme, both<Dim>(here[g], turbulent),
                                  here[factors], both<Dim>(here[below], turbulent),
                                  both<Dim>(here[changed], turbulent));
        });
        return;
    }
    const auto q = task.need(step.labels.q);
    const auto dq = task.modify(l.dq);
    const auto below = task.need(l.dq, order);
    const auto dnu = task.modify(l.dnu.where(turbulent));
    const auto nu_below = task.need(l.dnu.where(turbulent), order);
    const auto changes = task.contribute(l.changes);
    task.run([=, &grid = step.grid, most = step.settings.time.most_change](Here& here) {
        substitute_lines<Dim>(lines_of(here, grid, pass, holds), scheme, both<Dim>(here[g], turbulent),
                              here[factors], {here[below], here[nu_below]}, {here[dq], here[dnu]});
        here[changes] = judge<Dim>(here.cells(), most, here[q], readable(here[dq]), readable(here[dnu]),
                                   scheme.model_equations())
                            .sums();
    });
}

}  // namespace

template <int Dim>
void declare_lines(const Step& step, Scope& in) {
    for (int pass = 0; pass < Dim; ++pass) {
        eliminate<Dim>(step, in, pass);
        substitute<Dim>(step, in, pass);
    }
}

template void declare_lines<2>(const Step&, Scope&);
template void declare_lines<3>(const Step&, Scope&);

}  // namespace strata::flow
