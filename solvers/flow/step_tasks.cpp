// An iteration: residual, forward and backward sweep of LU-SGS, update. And the sum of what it did.
#include <fmt/format.h>

#include <cmath>

#include "solvers/flow/judge.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// The weights of now, the step before and the one before that in dq/dt; the first step is Euler's.
std::array<double, 3> time_weights(double dt, std::int64_t step) {
    if (step <= 1) return {1 / dt, -1 / dt, 0};
    return {1.5 / dt, -2 / dt, 0.5 / dt};
}

double cfl(const Settings& s, const Here& here, double share) {
    const std::int64_t iteration = s.steady() ? s.stages().at(here.step).iteration : here.round;
    return share * s.cfl_at(iteration);
}

StepSize step_size(const Settings& s, const Here& here, double share) {
    StepSize size;
    size.cfl = cfl(s, here, share);
    size.cfl_turbulence = s.time.cfl_turbulence > 0 ? std::min(size.cfl, s.time.cfl_turbulence) : size.cfl;
    if (!s.steady()) size.physical = time_weights(s.time.step, here.step)[0];
    return size;
}

using OutletUses = std::vector<std::pair<std::string, ScalarUse<OutletSums>>>;
OutletUses contribute_outlets(const Step& step, Task& task) {
    OutletUses uses;
    for (const auto& [name, sums] : step.labels.outlets) uses.emplace_back(name, task.contribute(sums));
    return uses;
}

/// Cells that are not computed: no residual, and an implicit step that changes them by nothing. The diagonals
/// are inverse; 0 would be no number to who solves lines.
template <int Dim>
void hold_cells(const Box& cells, const FieldView<const std::int32_t>& status, const FieldView<double>& dq,
                const FieldView<double>& dnu, const FieldView<double>& diagonal,
                const FieldView<double>& diagonal_nu) {
    constexpr double kNothing = 1e-60;
    const bool turbulent = !dnu.box().empty();
    for_each(cells, [&](int i, int j, int k) {
        if (status(i, j, k) == static_cast<std::int32_t>(overset::Cell::computed)) return;
        for (int c = 0; c < Dim + 2; ++c) dq(i, j, k, c) = 0;
        diagonal(i, j, k) = kNothing;
        if (turbulent) dnu(i, j, k) = 0, diagonal_nu(i, j, k) = kNothing;
    });
}

/// R in dq and dnu, the diagonals of the implicit step, and the norms of R.
template <int Dim>
void find_residual(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool unsteady = !step.settings.steady();
    Task task = in.task(step.named("residual"), step.zones());
    const auto around = scheme.viscous() ? step.layers(2) : step.layers(2).without_corners();
    const auto q = task.need(l.q, around);
    const auto geometry = task.need(l.geometry);
    const auto share = task.need(l.share.previous());
    const auto dq = task.make(l.dq), diagonal = task.make(l.diagonal);
    const auto norms = task.contribute(l.norms);
    Perhaps nu, distance, viscosity, old, older, nu_old, nu_older;
    PerhapsWritten dnu, diagonal_nu;
    if (scheme.viscous()) viscosity = task.need(l.viscosity, step.layers(1).without_corners());
    if (step.turbulent()) {
        nu = task.need(l.nu_tilde, around), distance = task.need(l.distance);
        dnu = task.make(l.dnu), diagonal_nu = task.make(l.diagonal_nu);
    }
    const auto outlets = contribute_outlets(step, task);
    const CellsComputed computed(l.overset, task);
    if (unsteady) {
        old = task.need(l.old), older = task.need(l.old.previous());
        if (step.turbulent()) nu_old = task.need(l.nu_old), nu_older = task.need(l.nu_old.previous());
    }
    task.run([=, &s = step.settings, &grid = step.grid](Here& here) {
        const Box cells = here.cells();
        const Patch<Dim> patch =
            PatchGeometry<Dim>(cells).patch(here[geometry], here[q], here[nu], here[distance]);
        for (const auto& [name, sums] : outlets)
            for (const auto& [face, boundary] : grid.boundaries(here.patch))
                if (boundary->name == name)
                    add_outlet<Dim>(scheme.gas.gamma, scheme.axisymmetric, face,
                                    PatchGeometry<Dim>(cells).nodes(here[geometry]), here[q], here[sums]);
        residual<Dim>(cells, patch, scheme, here[dq], here[dnu], here[diagonal_nu]);
        if (unsteady) {
            const auto [a, b, c] = time_weights(s.time.step, here.step);
            add_time_difference(cells, Dim + 2, patch.volumes, a, here[q], b, here[old], c, here[older],
                                here[dq]);
            if (scheme.turbulent())
                add_time_difference(cells, 1, patch.volumes, a, here[nu], b, here[nu_old], c, here[nu_older],
                                    here[dnu]);
        }
        diagonals<Dim>(cells, patch, scheme, step_size(s, here, here[share]), here[viscosity], here[diagonal],
                       here[diagonal_nu]);
        if (!computed.all())
            hold_cells<Dim>(cells, computed.status(here), here[dq], here[dnu], here[diagonal],
                            here[diagonal_nu]);
        const auto sum = [&](const FieldView<double>& of, int component) {
            return square_sum(cells, patch.volumes, readable(of), component);
        };
        Norms& all = here[norms];
        all[0] = sum(here[dq], 0);
        for (int d = 1; d <= Dim; ++d) all[1] += sum(here[dq], d);
        all[2] = sum(here[dq], Dim + 1);
        if (scheme.turbulent()) all[3] = sum(here[dnu], 0);
    });
}

/// Whether an iteration solves lines: all of them, or every second one.
bool by_lines(const Settings& s, const Here& here) {
    return s.time.implicit == "lines" || (s.steady() ? here.step : here.round) % 2 == 1;
}

/// Up (1) or down (-1) over the patches of each zone. Beyond joined faces dq counts as zero.
template <int Dim>
void sweep(const Step& step, Scope& in, int sign) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool up = sign > 0;
    const int version = up ? 0 : 1;
    const auto order = graph::upwind(step.ways(sign)).within_zones();
    Task task = in.task(step.named(up ? "forward sweep" : "backward sweep"), step.zones());
    const auto around = step.layers(1).without_corners();
    const auto q = task.need(l.q, around);
    const auto geometry = task.need(l.geometry);
    const auto dq = task.modify(l.dq.at(version));
    const auto behind = task.need(l.dq.at(version + 1), order);
    const auto diagonal = task.need(l.diagonal);
    Perhaps nu, viscosity, nu_behind, diagonal_nu;
    PerhapsWritten dnu;
    if (scheme.viscous()) viscosity = task.need(l.viscosity, around);
    if (step.turbulent()) {
        nu = task.need(l.nu_tilde, around), diagonal_nu = task.need(l.diagonal_nu);
        dnu = task.modify(l.dnu.at(version)), nu_behind = task.need(l.dnu.at(version + 1), order);
    }
    Perhaps factors_behind, factors;
    PerhapsWritten factors_made;
    if (step.has_lines() && up)
        factors_made = task.make(l.factors), factors_behind = task.need(l.factors, order);
    else if (step.has_lines())
        factors = task.need(l.factors);
    ScalarUse<Changes> changes;
    if (!up) changes = task.contribute(l.changes);
    task.run([=, &grid = step.grid, &s = step.settings, has_lines = step.has_lines()](Here& here) {
        const Box cells = here.cells();
        const int zone_number = grid.zones().zone_of(here.patch);
        const Box& zone = grid.zones().cells(zone_number);
        const int axis = has_lines && by_lines(s, here) ? grid.line_axis(zone_number) : -1;
        std::array<bool, 3> open{};
        for (std::size_t a = 0; a < Dim; ++a)
            open[a] = up ? cells.lo[a] > zone.lo[a] : cells.hi[a] < zone.hi[a];
        const Patch<Dim> patch =
            PatchGeometry<Dim>(cells).patch(here[geometry], here[q], here[nu], no_field());
        const Diagonals d{here[diagonal], here[diagonal_nu], here[viscosity]};
        const flow::Upwind from{here[behind], here[nu_behind]};
        const Unknowns to{here[dq], here[dnu]};
        const auto a = static_cast<std::size_t>(axis);
        if (up && axis > 0) {
            eliminate_lines<Dim>(cells, axis, patch, scheme, d, {open[a], cells.hi[a] < zone.hi[a]}, from,
                                 here[factors_behind], here[factors_made], to);
        } else if (up) {
            forward_sweep<Dim>(cells, patch, scheme, d, open, from, to);
        } else {
            if (axis > 0)
                substitute_lines<Dim>(cells, axis, scheme, open[a], from, here[factors], to);
            else
                backward_sweep<Dim>(cells, patch, scheme, d, open, from, to);
            const Judged found = judge<Dim>(cells, s.time.most_change, here[q], readable(here[dq]));
            here[changes] = {static_cast<double>(found.far), static_cast<double>(found.no_number)};
        }
    });
}

/// Whether the step is made: not where a value would be no number, or one cell in ten would change by more
/// than it may. The next CFL number is then half as large, and grows again with each step that is made.
void decide(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    Task task = in.once(step.named("decide"));
    const auto changes = task.need(l.changes);
    const auto share_before = task.need(l.share.previous()),
               failures_before = task.need(l.failures.previous());
    const auto share = task.make(l.share), failures = task.make(l.failures), verdict = task.make(l.verdict);
    task.run([=, cells = static_cast<double>(step.zones().all_cells())](Here& here) {
        const auto [far, no_number] = here[changes];
        const bool failed = no_number > 0 || far > 0.1 * cells;
        here[verdict] = failed ? 1 : 0;
        here[failures] = here[failures_before] + (failed ? 1 : 0);
        here[share] = failed ? here[share_before] / 2 : std::min(1.0, 1.1 * here[share_before]);
        if (here[share] < 1e-4)
            here.fail(fmt::format(
                "the flow diverges: {:.0f} steps have failed, the last one with {:.0f} cells that "
                "would change by more than time.most_change and {:.0f} that would be no number. "
                "Try a smaller time.cfl, a longer time.ramp, a limiter, or scheme.order = 1 first",
                here[failures], far, no_number));
    });
}

template <int Dim>
void make_update(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    Task task = in.task(step.named("update"), step.zones());
    const auto verdict = task.need(l.verdict);
    const auto geometry = task.need(l.geometry);
    const OutletPressures outlets(step, task);
    const auto dq = task.need(l.dq.at(2));
    const auto q = task.modify(l.q);
    Perhaps dnu;
    PerhapsWritten nu, viscosity;
    if (step.turbulent()) dnu = task.need(l.dnu.at(2)), nu = task.modify(l.nu_tilde);
    if (scheme.viscous()) viscosity = task.modify(l.viscosity);
    const ReceptorsFilled receptors(step, task);
    task.run([=, &grid = step.grid, most = step.settings.time.most_change](Here& here) {
        if (here[verdict] != 0) return;
        const PatchGeometry<Dim> of(here.cells());
        const auto to = here[q];
        const auto turbulence = here[nu];
        update<Dim>(here.cells(), scheme, most, here[dq], here[dnu], to, turbulence);
        receptors.in(here, Dim + 2, to, turbulence);
        fill_borders<Dim>(here, grid, scheme, of.nodes(here[geometry]), to, turbulence, outlets);
        if (scheme.viscous())
            step_viscosity<Dim>(here[viscosity].box(),
                                of.patch(here[geometry], readable(to), readable(turbulence), no_field()),
                                scheme, here[viscosity]);
    });
}

}  // namespace

OutletPressures::OutletPressures(const Step& step, Task& task) {
    for (const auto& [name, sums] : step.labels.outlets) uses_.emplace_back(name, task.need(sums));
}

double OutletPressures::of(const Here& here, const Boundary& boundary) const {
    for (const auto& [name, sums] : uses_)
        if (name == boundary.name) return outlet_pressure(boundary, here[sums]);
    return boundary.pressure;
}

template <int Dim>
void declare_iteration(const Step& step, Scope& in) {
    declare_exchange(step, in);
    find_residual<Dim>(step, in);
    sweep<Dim>(step, in, 1);
    sweep<Dim>(step, in, -1);
    decide(step, in);
    make_update<Dim>(step, in);
}

template void declare_iteration<2>(const Step&, Scope&);
template void declare_iteration<3>(const Step&, Scope&);

}  // namespace strata::flow
