// An iteration: residual, sweeps of LU-SGS forward and backward (or lines, line_tasks.cpp), whether the step
// is made, update.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/figures.hpp"
#include "solvers/flow/judge.hpp"
#include "solvers/flow/overset_balance.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// The weights of now, the step before and the one before that in dq/dt; the first step is Euler's.
std::array<double, 3> time_weights(double dt, std::int64_t step) {
    if (step <= 1) return {1 / dt, -1 / dt, 0};
    return {1.5 / dt, -2 / dt, 0.5 / dt};
}

using OutletUses = std::vector<std::pair<std::string, ScalarUse<OutletSums>>>;
OutletUses contribute_outlets(const Step& step, Task& task) {
    OutletUses uses;
    for (const auto& [name, sums] : step.labels.outlets) uses.emplace_back(name, task.contribute(sums));
    return uses;
}

/// The forcing, R received - R found, of the first residual on a grid, and the received one in its place.
void begin_forcing(const Box& cells, int components, const FieldView<double>& forcing,
                   const FieldView<double>& residual) {
    for (int c = 0; c < components; ++c)
        for_each(cells, [&](int i, int j, int k) {
            const double received = forcing(i, j, k, c);
            forcing(i, j, k, c) = received - residual(i, j, k, c);
            residual(i, j, k, c) = received;
        });
}

/// Cells that are not computed: no residual, and an implicit step that changes them by nothing.
template <int Dim>
void hold_cells(const Box& cells, const FieldView<const std::int32_t>& status, const FieldView<double>& dq,
                const FieldView<double>& dnu, const FieldView<double>& diagonal,
                const FieldView<double>& diagonal_nu, int model) {
    for_each(cells, [&](int i, int j, int k) {
        if (status(i, j, k) == static_cast<std::int32_t>(overset::Cell::computed)) return;
        for (int c = 0; c < Dim + 2; ++c) dq(i, j, k, c) = 0;
        diagonal(i, j, k) = kHeld;
        for (int m = 0; m < model; ++m) dnu(i, j, k, m) = 0, diagonal_nu(i, j, k, m) = kHeld;
    });
}

/// R in dq and dnu, the diagonals of the implicit step, and the norms of R.
template <int Dim>
void find_residual(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool unsteady = !step.settings.steady();
    Task task = in.task(step.named("residual"), step.zones());
    declare_work(task, WorkOf(Dim, scheme).residual() + WorkOf(Dim, scheme).diagonals());
    const auto around = scheme.viscous() ? step.layers(2) : step.layers(2).without_corners();
    const auto q = task.need(step.labels.q, around);
    const auto geometry = task.need(step.geometry());
    const bool leads = step.leader == nullptr;
    const auto share = task.need(leads ? l.share.previous() : step.leader->share.previous());
    const auto dq = task.make(l.dq), diagonal = task.make(l.diagonal);
    ScalarUse<Norms> norms;
    OutletUses outlets;
    if (leads) norms = task.contribute(l.norms), outlets = contribute_outlets(step, task);
    const bool turbulent = step.turbulent();
    const auto viscosity = task.need(l.viscosity.where(scheme.viscous()), step.layers(1).without_corners());
    const auto nu = task.need(l.nu_tilde.where(step.needs_nu()), around);
    const auto distance = task.need(l.distance.where(turbulent));
    const auto dnu = task.make(l.dnu.where(turbulent)),
               diagonal_nu = task.make(l.diagonal_nu.where(turbulent));
    const auto first_forcing = task.modify(l.forcing.where(step.has_forcing && step.is_first));
    const auto forcing = task.need(l.forcing.where(step.has_forcing && !step.is_first));
    const CellsComputed computed(l.overset, task);
    const EdgeFlows edges(step, task);
    // Of an unsteady flow
    const auto old = task.need(l.old),
               older = step.uncovers() ? task.need(l.older) : task.need(l.old.previous());
    const auto nu_old = task.need(l.nu_old),
               nu_older = step.uncovers() ? task.need(l.nu_older) : task.need(l.nu_old.previous());
    task.run([=, &s = step.settings, &grid = step.grid, steered = step.cfl, has_forcing = step.has_forcing,
              is_first = step.is_first](Here& here) {
        const Box cells = here.cells();
        const Patch<Dim> patch =
            PatchGeometry<Dim>(cells).patch(here[geometry], here[q], here[nu], here[distance],
                                            scheme.keeps_eddies() ? here[viscosity] : no_field());
        for (const auto& [name, sums] : outlets)
            for (const auto& [face, boundary] : grid.boundaries(here.patch))
                if (boundary->name == name)
                    add_outlet<Dim>(scheme.gas.gamma, scheme.axisymmetric, face,
                                    PatchGeometry<Dim>(cells).nodes(here[geometry]), here[q], here[sums],
                                    [&](const Int3& cell) { return computed.at(here, cell); });
        edges.sum<Dim>(here, patch);
        residual<Dim>(cells, patch, scheme, here[dq], here[dnu], here[diagonal_nu]);
        if (unsteady) {
            const auto [a, b, c] = time_weights(s.time.step, here.step);
            add_time_difference(cells, Dim + 2, patch.volumes, a, here[q], b, here[old], c, here[older],
                                here[dq]);
            if (scheme.turbulent())
                add_time_difference(cells, scheme.model_equations(), patch.volumes, a, here[nu], b,
                                    here[nu_old], c, here[nu_older], here[dnu]);
        }
        if (has_forcing && is_first) begin_forcing(cells, Dim + 2, here[first_forcing], here[dq]);
        if (has_forcing && !is_first) add_cells(cells, Dim + 2, here[forcing], here[dq]);
        diagonals<Dim>(cells, patch, scheme, step_size(s, *steered, here, here[share]), here[viscosity],
                       here[diagonal], here[diagonal_nu]);
        if (!computed.all())
            hold_cells<Dim>(cells, computed.status(here), here[dq], here[dnu], here[diagonal],
                            here[diagonal_nu], scheme.model_equations());
        if (!leads) return;
        const auto sum = [&](const FieldView<double>& of, int component) {
            return square_sum(cells, patch.volumes, readable(of), component);
        };
        Norms& all = here[norms];
        all[0] = sum(here[dq], 0);
        for (int d = 1; d <= Dim; ++d) all[1] += sum(here[dq], d);
        all[2] = sum(here[dq], Dim + 1);
        for (int m = 0; m < scheme.model_equations(); ++m)
            all[static_cast<std::size_t>(3 + m)] = sum(here[dnu], m);
    });
}

/// Up (1) or down (-1) over the patches of each zone. Beyond joined faces dq counts as zero.
template <int Dim>
void sweep(const Step& step, Scope& in, int sign) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    const bool up = sign > 0;
    const auto order = graph::upwind(step.ways(sign)).within_zones();
    Task task = in.task(step.named(up ? "forward sweep" : "backward sweep"), step.zones());
    declare_work(task, WorkOf(Dim, scheme).sweep());
    const auto around = step.layers(1).without_corners();
    const auto q = task.need(step.labels.q, around);
    const auto geometry = task.need(step.geometry());
    const auto dq = task.modify(l.dq);
    const auto behind = task.need(l.dq, order);
    const auto diagonal = task.need(l.diagonal);
    const bool turbulent = step.turbulent();
    const auto viscosity = task.need(l.viscosity.where(scheme.viscous()), around);
    const auto nu = task.need(l.nu_tilde.where(turbulent), around),
               diagonal_nu = task.need(l.diagonal_nu.where(turbulent));
    const auto dnu = task.modify(l.dnu.where(turbulent));
    const auto nu_behind = task.need(l.dnu.where(turbulent), order);
    ScalarUse<Changes> changes;
    if (!up) changes = task.contribute(l.changes);
    task.run([=, &grid = step.grid, most = step.settings.time.most_change](Here& here) {
        const Box cells = here.cells();
        const Box& zone = grid.zones().cells(grid.zones().zone_of(here.patch));
        std::array<bool, 3> open{};
        for (std::size_t a = 0; a < Dim; ++a)
            open[a] = up ? cells.lo[a] > zone.lo[a] : cells.hi[a] < zone.hi[a];
        const Patch<Dim> patch =
            PatchGeometry<Dim>(cells).patch(here[geometry], here[q], here[nu], no_field());
        const Diagonals d{here[diagonal], here[diagonal_nu], here[viscosity]};
        const flow::Upwind from{here[behind], here[nu_behind]};
        const Unknowns to{here[dq], here[dnu]};
        if (up) {
            forward_sweep<Dim>(cells, patch, scheme, d, open, from, to);
        } else {
            backward_sweep<Dim>(cells, patch, scheme, d, open, from, to);
            here[changes] = judge<Dim>(cells, most, here[q], readable(here[dq]), readable(here[dnu]),
                                       scheme.model_equations())
                                .sums();
        }
    });
}

/// Whether the step is made: not where a value would be no number, or one cell in ten would change by more
/// than it may. The next CFL number is then half as large, and grows again with each step that is made.
///
/// Other iterations of a cycle are left out where they fail.
void decide(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    Task task = in.once(step.named("decide"));
    const auto changes = task.need(l.changes);
    const CellsCounted cells(l.overset, step.zones().all_cells(), task);
    if (step.leader != nullptr) {
        task.run([=, verdict = task.make(l.verdict)](Here& here) {
            const auto [far, no_number] = here[changes];
            here[verdict] = no_number > 0 || far > 0.1 * cells.in(here) ? 1 : 0;
        });
        return;
    }
    const auto share_before = task.need(l.share.previous()),
               failures_before = task.need(l.failures.previous());
    const auto share = task.make(l.share), failures = task.make(l.failures), verdict = task.make(l.verdict);
    task.run([=](Here& here) {
        const auto [far, no_number] = here[changes];
        const bool failed = no_number > 0 || far > 0.1 * cells.in(here);
        here[verdict] = failed ? 1 : 0;
        here[failures] = here[failures_before] + (failed ? 1 : 0);
        here[share] = failed ? here[share_before] / 2 : std::min(1.0, 1.1 * here[share_before]);
    });
}

/// The share of the CFL number below which steps fail for another reason than their length.
constexpr double kLeastShare = 1e-4;

/// Ends a run that diverges, where this patch has a cell that is to blame: says which, and what would become
/// of it.
template <int Dim>
void end_diverging(const Here& here, const Settings& s, const Scheme& scheme, double failures,
                   const FieldView<const double>& centres, const FieldView<const double>& q,
                   const FieldView<const double>& dq, const FieldView<const double>& dnu) {
    const Judged found = judge<Dim>(here.cells(), s.time.most_change, q, dq, dnu, scheme.model_equations());
    if (found.far == 0 && found.no_number == 0) return;  // it is on other patches
    const WorstCell worst =
        worst_cell<Dim>(here.cells(), scheme.gas.gamma, q, dq, dnu, scheme.model_equations());
    const auto x = [&](int d) { return centres(worst.at[0], worst.at[1], worst.at[2], d); };
    here.fail(fmt::format(
        "the flow diverges: {:.0f} steps have failed. In the last one {} cells of this patch would change by "
        "more than time.most_change ({:g}) and {} values would be no number; worst is the cell at ({:.6g}, "
        "{:.6g}{}), whose density would go from {:.4g} to {:.4g}, and pressure from {:.4g} to {:.4g}. Try a "
        "smaller time.cfl (now {:g}), a longer time.ramp ({}), scheme.limiter, or scheme.order = 1 first",
        failures, found.far, s.time.most_change, found.no_number, x(0), x(1),
        Dim == 3 ? fmt::format(", {:.6g}", x(Dim - 1)) : "", worst.now[0], without_nan_sign(worst.next[0]),
        worst.now[1], without_nan_sign(worst.next[1]), s.time.cfl, s.time.ramp));
}

template <int Dim>
void make_update(const Step& step, Scope& in) {
    const Labels& l = step.labels;
    const Scheme& scheme = step.scheme;
    Task task = in.task(step.named("update"), step.zones());
    const bool follows = step.viscosity_follows(), leads = step.leader == nullptr;
    ScalarUse<const double> share, failures;
    if (leads) share = task.need(l.share), failures = task.need(l.failures);
    declare_work(task, WorkOf(Dim, scheme).update() + (follows ? WorkOf(Dim, scheme).viscosity() : Work{}));
    const auto verdict = task.need(l.verdict);
    const auto geometry = task.need(step.geometry());
    const OutletPressures outlets(step, task);
    const auto dq = task.need(l.dq);
    const auto q = task.modify(step.labels.q);
    const bool turbulent = step.turbulent();
    const auto dnu = task.need(l.dnu.where(turbulent));
    const auto nu = task.modify(l.nu_tilde.where(turbulent));
    const auto frozen = task.need(l.nu_tilde.where(!turbulent && step.needs_nu()));
    const auto viscosity = task.modify(l.viscosity.where(follows));
    const ReceptorsFilled receptors(step, task);
    task.run([=, &s = step.settings, &grid = step.grid, most = step.settings.time.most_change](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        if (here[verdict] != 0) {
            if (leads && here[share] < kLeastShare)
                end_diverging<Dim>(here, s, scheme, here[failures], of.centres(here[geometry]),
                                   readable(here[q]), here[dq], here[dnu]);
            return;
        }
        const auto to = here[q];
        const auto turbulence = here[nu];
        update<Dim>(here.cells(), scheme, most, here[dq], here[dnu], to, turbulence);
        receptors.in(here, Dim + 2, to, turbulence);
        fill_borders<Dim>(here, grid, scheme, here[geometry], to, turbulence, outlets);
        if (follows)
            step_viscosity<Dim>(
                here[viscosity].box(),
                of.patch(here[geometry], readable(to),
                         scheme.turbulent() ? readable(turbulence) : here[frozen], no_field()),
                scheme, here[viscosity]);
    });
}

}  // namespace

StepSize step_size(const Settings& s, double cfl, const Here& here, double share) {
    const std::int64_t iteration = s.steady() ? s.stages().at(here.step).iteration : here.round;
    StepSize size;
    size.cfl = share * s.cfl_at(iteration, cfl);
    size.cfl_turbulence = s.time.cfl_turbulence > 0 ? std::min(size.cfl, s.time.cfl_turbulence) : size.cfl;
    size.cfl_across = s.time.cfl_across;
    if (!s.steady()) size.physical = time_weights(s.time.step, here.step)[0];
    return size;
}

OutletPressures::OutletPressures(const Step& step, Task& task) {
    // In a cycle those that its finest grid finds hold on all.
    const Labels& l = step.leader != nullptr ? *step.leader : step.labels;
    for (const auto& [name, sums] : l.outlets) uses_.emplace_back(name, task.need(sums));
}

double OutletPressures::of(const Here& here, const Boundary& boundary) const {
    for (const auto& [name, sums] : uses_)
        if (name == boundary.name) return outlet_pressure(boundary, here[sums]);
    return boundary.pressure;
}

template <int Dim>
void declare_iteration(const Step& step, Scope& in) {
    declare_exchange(step, in);
    declare_eddies<Dim>(step, in);
    find_residual<Dim>(step, in);
    if (step.has_lines()) {
        declare_lines<Dim>(step, in);
    } else {
        sweep<Dim>(step, in, 1);
        sweep<Dim>(step, in, -1);
    }
    decide(step, in);
    make_update<Dim>(step, in);
}

template void declare_iteration<2>(const Step&, Scope&);
template void declare_iteration<3>(const Step&, Scope&);

}  // namespace strata::flow
