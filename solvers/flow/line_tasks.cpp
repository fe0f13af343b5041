// The implicit step along lines away from walls, as tasks: both colours, each down the lines and up again.
#include <fmt/format.h>

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

/// Changes of state and nu~, in one field.
template <int Dim>
Upwind both(const FieldView<const double>& f, bool turbulent) {
    if (f.origin() == nullptr) return {no_field(), no_field()};
    return {f, turbulent ? components_from(f, Dim + 2) : no_field()};
}
template <int Dim>
Unknowns both(const FieldView<double>& f, bool turbulent) {
    return {f, turbulent ? components_from(f, Dim + 2) : no_result()};
}

/// The lines of a patch.
LineSet lines_of(const Here& here, const FlowZones& grid, int colour) {
    const int zone = grid.zones().zone_of(here.patch), axis = grid.line_axis(zone);
    const auto a = static_cast<std::size_t>(axis);
    const Box cells = here.cells();
    const Box& all = grid.zones().cells(zone);
    const auto on = grid.on_patch(here.patch);
    const auto end = [&](bool upper) {
        if (upper ? cells.hi[a] < all.hi[a] : cells.lo[a] > all.lo[a]) return LineEnd::goes_on;
        const Boundary* boundary = on[2 * a + (upper ? 1 : 0)];
        if (boundary == nullptr) return !upper && grid.lines_meet(zone) ? LineEnd::joined : LineEnd::ends;
        switch (boundary->condition) {
            case Condition::wall:
                return LineEnd::wall;
            case Condition::slip_wall:
            case Condition::symmetry:
                return LineEnd::mirrored;
            default:
                return LineEnd::ends;
        }
    };
    return {cells, axis, colour, end(false), end(true)};
}

/// The order down (-1) or up (1) along the lines of all zones.
graph::Upwind along_lines(const Step& step, int sign) {
    Int3 towards{};
    for (int zone = 0; zone < step.zones().zones(); ++zone)
        towards[static_cast<std::size_t>(step.grid.line_axis(zone))] = sign;
    return graph::upwind(towards).within_zones();
}

template <int Dim>
void eliminate(const Step& step, Scope& in, int colour) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    Task task = in.task(step.named(colour == 0 ? "even lines, down" : "odd lines, down"), step.zones());
    const auto around = step.layers(1).without_corners();
    const auto order = along_lines(step, -1);
    const auto c = static_cast<std::size_t>(colour);
    const auto q = task.need(step.q(), around);
    const auto viscosity = task.need(step.viscosity(), around);
    const auto geometry = task.need(l.geometry);
    const auto share = task.need(step.leader == nullptr ? l.share.previous() : step.leader->share.previous());
    const auto residual = task.need(l.dq.at(0)), diagonal = task.need(l.diagonal);
    Perhaps nu, nu_residual, nu_diagonal, beside;
    if (step.turbulent())
        nu = task.need(step.nu_tilde()), nu_residual = task.need(l.dnu.at(0)),
        nu_diagonal = task.need(l.diagonal_nu);
    if (colour == 1) beside = task.need(l.half_changed, around);
    const auto g = task.make(l.eliminated[c]), factors = task.make(l.factors[c]);
    const auto g_above = task.need(l.eliminated[c], order), factors_above = task.need(l.factors[c], order);
    task.run([=, &grid = step.grid, &s = step.settings](Here& here) {
        const bool turbulent = scheme.turbulent();
        const Patch<Dim> patch =
            PatchGeometry<Dim>(here.cells()).patch(here[geometry], here[q], here[nu], no_field());
        eliminate_lines<Dim>(lines_of(here, grid, colour), patch, scheme, step_size(s, here, here[share]),
                             {here[diagonal], here[nu_diagonal], here[viscosity]},
                             {here[residual], here[nu_residual]}, both<Dim>(here[beside], turbulent),
                             both<Dim>(here[g_above], turbulent), here[factors_above],
                             both<Dim>(here[g], turbulent), here[factors]);
    });
}

/// Of the first colour to `half_changed`, of the second to dq, with what the first has changed.
template <int Dim>
void substitute(const Step& step, Scope& in, int colour) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool turbulent = step.turbulent();
    Task task = in.task(step.named(colour == 0 ? "even lines, up" : "odd lines, up"), step.zones());
    const auto order = along_lines(step, 1);
    const auto c = static_cast<std::size_t>(colour);
    const auto around = step.grid.any_lines_meet() ? step.layers(1).without_corners() : step.layers(0);
    const auto g = task.need(l.eliminated[c], around), factors = task.need(l.factors[c], around);
    if (colour == 0) {
        const auto changed = task.make(l.half_changed);
        const auto below = task.need(l.half_changed, order);
        task.run([=, &grid = step.grid](Here& here) {
            const LineSet lines = lines_of(here, grid, 0);
            const Unknowns to = both<Dim>(here[changed], turbulent);
            fill_other_colour<Dim>(lines, scheme, {no_field(), no_field()}, to);
            substitute_lines<Dim>(lines, scheme, both<Dim>(here[g], turbulent), here[factors],
                                  both<Dim>(here[below], turbulent), to);
        });
        return;
    }
    const auto q = task.need(step.q());
    const auto half = task.need(l.half_changed);
    const auto dq = task.modify(l.dq.at(0));
    const auto below = task.need(l.dq.at(1), order);
    PerhapsWritten dnu;
    Perhaps nu_below;
    if (turbulent) dnu = task.modify(l.dnu.at(0)), nu_below = task.need(l.dnu.at(1), order);
    const auto changes = task.contribute(l.changes);
    task.run([=, &grid = step.grid, most = step.settings.time.most_change](Here& here) {
        const LineSet lines = lines_of(here, grid, 1);
        const Unknowns to{here[dq], here[dnu]};
        fill_other_colour<Dim>(lines, scheme, both<Dim>(here[half], turbulent), to);
        substitute_lines<Dim>(lines, scheme, both<Dim>(here[g], turbulent), here[factors],
                              {here[below], here[nu_below]}, to);
        here[changes] = judge<Dim>(here.cells(), most, here[q], readable(here[dq])).sums();
    });
}

}  // namespace

template <int Dim>
void declare_lines(const Step& step, Scope& in) {
    for (const int colour : {0, 1}) {
        eliminate<Dim>(step, in, colour);
        substitute<Dim>(step, in, colour);
    }
}

template void declare_lines<2>(const Step&, Scope&);
template void declare_lines<3>(const Step&, Scope&);

}  // namespace strata::flow
