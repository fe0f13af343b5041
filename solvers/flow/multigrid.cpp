// A multigrid cycle: Brandt's full approximation storage (Math. Comp. 31 (1977) 333) as Jameson and others
// use it for steady flow. A coarser grid gets the state of the finer one (means by volume) and its defect
// (sums), solves
//   R_coarse(q) + forcing = 0,   forcing = defect received - R_coarse(state received),
// by some iterations, and what it has changed is added to the finer grid, linear between its cells. There
// convective fluxes are of first order, and nu_tilde (with Menter's model the turbulent viscosity itself)
// stays as it was received: the model's equations are solved on the finest grid of a cycle alone.
//
// Of meshes that overlap a coarser cell changes where all cells of which it consists are computed; others are
// held, and what comes back changes no cell that is not computed (Jespersen, Pulliam and Buning, AIAA
// 97-0644). The finest grid alone interpolates.
#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "solvers/flow/scheme/between_grids.hpp"
#include "solvers/flow/step.hpp"

namespace strata::flow {

using namespace graph;

namespace {

/// The state's fluxes, without the model's equations.
Scheme frozen(Scheme scheme) {
    if (scheme.turbulent()) scheme.viscosity = scheme.is_sst() ? Viscosity::frozen_eddies : Viscosity::frozen;
    return scheme;
}

/// Of the values that a coarser grid gets for each of its cells: state, defect, nu_tilde or mu_t.
constexpr int received(int dims, bool eddies) { return 2 * (dims + 2) + (eddies ? 1 : 0); }

/// Defect, and with it what the coarser grid gets, as a list of the finer patch.
template <int Dim>
void make_restricted(const Step& fine, const Step& coarse, Scope& in) {
    Labels& l = fine.labels;
    const int each = received(Dim, fine.scheme.eddies());
    l.defect =
        fine.graph.field<double>(coarse.named("defect"), fine.zones(), On::cells, {.components = Dim + 2});
    l.restricted = fine.graph.list<double>(
        coarse.named("restricted"), fine.zones(),
        [each, &zones = coarse.zones()](int patch) { return each * zones.box(patch).volume(); });
    Task task = in.task(coarse.named("restrict"), fine.zones());
    const Scheme scheme = frozen(fine.scheme);
    const auto around = scheme.viscous() ? fine.layers(2) : fine.layers(2).without_corners();
    const auto q = task.need(fine.labels.q, around);
    const auto geometry = task.need(l.geometry);
    const bool keeps = scheme.keeps_eddies();
    const auto kept = task.need(l.viscosity.where(keeps), fine.layers(1).without_corners());
    const auto nu = task.need(l.nu_tilde.where(!keeps && fine.needs_nu()), around);
    const auto forcing = task.need(l.forcing.where(fine.has_forcing));
    const auto defect = task.make(l.defect);
    const auto restricted = task.make(l.restricted);
    task.run([=, has_forcing = fine.has_forcing, &coarser = coarse.zones()](Here& here) {
        const Box cells = here.cells(), parents = coarser.box(here.patch);
        const Patch<Dim> patch =
            PatchGeometry<Dim>(cells).patch(here[geometry], here[q], here[nu], no_field(), here[kept]);
        residual<Dim>(cells, patch, scheme, here[defect]);
        if (has_forcing) add_cells(cells, Dim + 2, here[forcing], here[defect]);
        const auto to = view_in(here[restricted], 0, parents, each);
        for (int c = 0; c < Dim + 2; ++c) {
            mean_of_children<Dim>(parents, patch.volumes, patch.q, c, to, c);
            sum_of_children<Dim>(parents, readable(here[defect]), c, to, Dim + 2 + c);
        }
        if (scheme.keeps_eddies())
            mean_of_children<Dim>(parents, patch.volumes, patch.eddies, kEddy, to, 2 * (Dim + 2));
        else if (scheme.eddies())
            mean_of_children<Dim>(parents, patch.volumes, patch.nu_tilde, 0, to, 2 * (Dim + 2));
    });
}

/// Which cells of a coarser grid change, of meshes that overlap; found at the start.
template <int Dim>
std::shared_ptr<OversetLabels> find_held(const Step& fine, const Step& coarse) {
    if (fine.labels.overset == nullptr) return nullptr;
    auto made = std::make_shared<OversetLabels>();
    made->held =
        coarse.graph.field<std::int32_t>(coarse.named("computed"), coarse.zones(), On::cells, {.kept = true});
    const Collect& relation = same_patches(coarse.named("status of the finer grid"), fine, coarse);
    Task task = coarse.graph.start().task(coarse.named("computed"), coarse.zones());
    task.run([finer = task.need(fine.labels.overset->status(), relation), to = task.make(*made->held),
              &zones = fine.zones()](Here& here) {
        constexpr auto kComputed = static_cast<std::int32_t>(overset::Cell::computed);
        const auto status = view_in(here[finer].all, 0, zones.box(here.patch), 1);
        for_each(here.cells(), [&](int i, int j, int k) {
            bool all = true;
            for_children<Dim>(i, j, k,
                              [&](int a, int b, int c) { all = all && status(a, b, c) == kComputed; });
            here[to](i, j, k) = all ? kComputed : static_cast<std::int32_t>(overset::Cell::hole);
        });
    });
    return made;
}

/// The coarser grid's state, and in `forcing` the defect. `filled`: with the model, whose borders are filled
/// where the grid gets its variable.
template <int Dim>
void receive(const Step& fine, const Step& coarse, const Scheme& filled, Scope& in) {
    Labels& l = coarse.labels;
    const auto field = [&](const char* name) {
        return coarse.graph.field<double>(coarse.named(name), coarse.zones(), On::cells,
                                          {.components = Dim + 2});
    };
    l.before = field("q before"), l.forcing = field("forcing");
    const Collect& relation = same_patches(coarse.named("from the finer grid"), fine, coarse);
    Task task = in.task(coarse.named("receive"), coarse.zones());
    const auto restricted = task.need(fine.labels.restricted, relation);
    const auto geometry = task.need(l.geometry);
    const OutletPressures outlets(coarse, task);
    const auto q = task.modify(coarse.labels.q);
    const auto before = task.make(l.before), forcing = task.make(l.forcing);
    const auto nu = task.modify(l.nu_tilde.where(coarse.needs_nu()));
    const auto viscosity = task.modify(l.viscosity.where(coarse.scheme.viscous()));
    task.run([=, &grid = coarse.grid, scheme = coarse.scheme](Here& here) {
        const bool kept = scheme.keeps_eddies();
        const Box cells = here.cells();
        const auto values = view_in(here[restricted].all, 0, cells, received(Dim, scheme.eddies()));
        const auto to = here[q];
        const auto turbulence = here[nu];
        const auto kept_state = here[before], kept_defect = here[forcing];
        for (int c = 0; c < Dim + 2; ++c)
            for_each(cells, [&](int i, int j, int k) {
                to(i, j, k, c) = kept_state(i, j, k, c) = values(i, j, k, c);
                kept_defect(i, j, k, c) = values(i, j, k, Dim + 2 + c);
            });
        if (scheme.eddies())
            for_each(cells, [&](int i, int j, int k) {
                const double value = values(i, j, k, 2 * (Dim + 2));
                if (kept)
                    here[viscosity](i, j, k, kEddy) = value;
                else
                    turbulence(i, j, k) = value;
            });
        if (kept)
            for (const auto& [face, boundary] : grid.boundaries(here.patch))
                fill_border_eddies(*boundary, face, kEddy, kEddy, here[viscosity]);
        const PatchGeometry<Dim> of(cells);
        fill_borders<Dim>(here, grid, kept ? scheme : filled, here[geometry], to, turbulence, outlets);
        if (scheme.viscous())
            step_viscosity<Dim>(here[viscosity].box(),
                                of.patch(here[geometry], readable(to), readable(turbulence), no_field()),
                                scheme, here[viscosity]);
    });
}

/// What the coarser grid has changed, of the parent of each cell.
template <int Dim>
void make_correction(const Step& coarse, const Step& fine, Scope& in) {
    Labels& l = fine.labels;
    const auto field = [&](const char* name) {
        return fine.graph.field<double>(coarse.named(name), fine.zones(), On::cells,
                                        {.components = Dim + 2, .turns = fine.zones().turns(), .vector = 1});
    };
    l.correction = field("correction"), l.smooth_correction = field("smooth correction");
    const Collect& relation = same_patches(coarse.named("from the coarser grid"), coarse, fine);
    Task task = in.task(coarse.named("correction"), fine.zones());
    const auto q = task.need(coarse.labels.q, relation), before = task.need(coarse.labels.before, relation);
    const auto correction = task.make(l.correction);
    task.run([=, &coarser = coarse.zones()](Here& here) {
        const auto of = [&](const auto& values, int border) {
            return components_in(
                values.all, coarser.owned(here.patch, On::cells, {border, border, Dim == 3 ? border : 0}),
                Dim + 2);
        };
        const auto now = of(here[q], kBorder), then = of(here[before], 0);
        change_of_parents<Dim>(here.cells(), now, then, here[correction]);
    });
}

template <int Dim>
void add_correction(const Step& coarse, const Step& fine, Scope& in) {
    const Labels& l = fine.labels;
    const Scheme scheme = frozen(fine.scheme);
    Task task = in.task(coarse.named("correct"), fine.zones());
    const auto correction = task.need(l.correction, fine.layers(1).without_corners());
    const auto smooth = task.make(l.smooth_correction);
    const auto geometry = task.need(l.geometry);
    const OutletPressures outlets(fine, task);
    const auto q = task.modify(fine.labels.q);
    const auto nu = task.need(l.nu_tilde.where(fine.needs_nu() && !scheme.keeps_eddies()));
    const bool follows = fine.viscosity_follows();
    const auto viscosity = task.modify(l.viscosity.where(follows));
    const CellsComputed computed(l.overset, task);
    task.run([=, &grid = fine.grid, own = fine.scheme, most = fine.settings.time.most_change](Here& here) {
        const PatchGeometry<Dim> of(here.cells());
        const auto to = here[q];
        linear_between_parents<Dim>(here.cells(), here[correction], here[smooth]);
        if (!computed.all())
            for_each(here.cells(), [&](int i, int j, int k) {
                if (computed.at(here, {i, j, k})) return;
                for (int c = 0; c < Dim + 2; ++c) here[smooth](i, j, k, c) = 0;
            });
        update<Dim>(here.cells(), scheme, most, readable(here[smooth]), no_field(), to, no_result());
        fill_borders<Dim>(here, grid, scheme, here[geometry], to, no_result(), outlets);
        if (follows)
            step_viscosity<Dim>(here[viscosity].box(),
                                of.patch(here[geometry], readable(to), here[nu], no_field()), own,
                                here[viscosity]);
    });
}

template <int Dim>
class Cycle {
  public:
    Cycle(const std::vector<Step>& grids, Scope& in)
        : grids_(grids), in_(in), keys_(grids.back().settings.time), held_(grids.size()) {}

    /// A correction of grid n + 1, of which `fine` is the present visit, from grid n and coarser ones.
    void correct(const Step& fine, std::size_t n) {
        Labels labels = grids_[n].labels;
        Step coarse = visit(n, labels);
        if (held_[n] == nullptr) held_[n] = find_held<Dim>(fine, coarse);
        labels.overset = held_[n];
        make_restricted<Dim>(fine, coarse, in_);
        receive<Dim>(fine, coarse, grids_[n].scheme, in_);
        const int turns = n > 0 && keys_.cycle == "w" ? 2 : 1;
        for (int turn = 0; turn < turns; ++turn) {
            iterate(coarse, keys_.smooth[0]);
            if (n > 0) correct(coarse, n - 1);
            iterate(coarse, keys_.smooth[1]);
        }
        make_correction<Dim>(coarse, fine, in_);
        add_correction<Dim>(coarse, fine, in_);
    }

  private:
    Step visit(std::size_t n, Labels& labels) {
        const Step &of = grids_[n], &finest = grids_.back();
        Scheme scheme = frozen(of.scheme);
        scheme.muscl.first_order = true;
        Step step{of.graph,    fmt::format("{}cycle {}, {}", finest.prefix, ++visits_, of.prefix),
                  of.settings, scheme,
                  of.grid,     of.boundaries,
                  nullptr,     labels,
                  of.cfl};
        step.leader = &finest.labels;
        step.has_forcing = step.is_first = true;
        return step;
    }
    void iterate(Step& coarse, std::int64_t times) {
        for (std::int64_t n = 0; n < times; ++n) {
            Step once = coarse;
            once.prefix = fmt::format("{}{}: ", coarse.prefix, ++iterations_);
            make_iteration_labels(once);
            declare_iteration<Dim>(once, in_);
            coarse.is_first = false;
        }
    }

    const std::vector<Step>& grids_;
    Scope& in_;
    const TimeKeys& keys_;
    std::vector<std::shared_ptr<OversetLabels>> held_;  // [grid]
    int visits_ = 0, iterations_ = 0;
};

}  // namespace

template <int Dim>
void declare_correction(const std::vector<Step>& grids, Scope& in) {
    Cycle<Dim>(grids, in).correct(grids.back(), grids.size() - 2);
}

template void declare_correction<2>(const std::vector<Step>&, Scope&);
template void declare_correction<3>(const std::vector<Step>&, Scope&);

}  // namespace strata::flow
