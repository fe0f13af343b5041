// What the files that declare tasks have in common.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/collect.hpp"
#include "methods/curvilinear/origin.hpp"
#include "solvers/flow/boundary/wall_distance.hpp"
#include "solvers/flow/geometry.hpp"
#include "solvers/flow/labels.hpp"
#include "solvers/flow/scheme/lines.hpp"
#include "solvers/flow/scheme/residual.hpp"
#include "solvers/flow/scheme/work.hpp"
#include "solvers/flow/settings.hpp"
#include "solvers/flow/zones.hpp"

namespace strata::flow {

using graph::Here;
using graph::Scope;
using graph::Task;

/// The tasks of one grid.
struct Step {
    graph::Graph& graph;
    std::string prefix;  // of names of labels and tasks
    const Settings& settings;
    Scheme scheme;
    const FlowZones& grid;
    const std::vector<Boundary>& boundaries;
    std::shared_ptr<const OriginValues> start;  // none: `initial`
    Labels& labels;
    const double* cfl;  // of local time steps, after the ramp: steered
    /// Whether a stage of the sequence ends here; other grids serve multigrid cycles alone.
    bool is_stage = true;
    /// Iterations that are not the first of a cycle on its finest grid: that grid's labels. They take its CFL
    /// number, and where they fail they are left out.
    const Labels* leader = nullptr;
    /// Those on the coarser grids of a cycle; the first one after the grid got its state.
    bool has_forcing = false, is_first = false;

    [[nodiscard]] std::string named(const std::string& name) const { return prefix + name; }
    [[nodiscard]] const graph::Zones& zones() const { return grid.zones(); }
    /// Whether iterations solve lines away from walls.
    [[nodiscard]] bool has_lines() const { return scheme.viscous() && settings.time.implicit == "lines"; }
    [[nodiscard]] bool turbulent() const { return scheme.turbulent(); }
    /// PatchGeometry of the step.
    [[nodiscard]] graph::List<double> geometry() const {
        return grid.moves() ? labels.moved : labels.geometry;
    }
    /// Whether cells come out of holes.
    [[nodiscard]] bool uncovers() const { return grid.moves() && settings.overlaps(); }
    /// Components of nu_tilde and its changes.
    [[nodiscard]] int model_equations() const { return scheme.model_equations(); }
    /// Whether residuals need nu_tilde.
    [[nodiscard]] bool needs_nu() const {
        return scheme.turbulent() || scheme.viscosity == Viscosity::frozen;
    }
    /// Whether a task of its own finds viscosities at the beginning of an iteration: they depend on
    /// gradients.
    [[nodiscard]] bool finds_eddies() const { return scheme.is_sst(); }
    /// Whether a task that changes the state also changes the viscosities that follow from it.
    [[nodiscard]] bool viscosity_follows() const { return scheme.viscous() && !finds_eddies(); }
    /// So many layers in the directions that there are.
    [[nodiscard]] graph::Ghosts layers(int width) const {
        return graph::ghosts({width, width, grid.dimensions() == 3 ? width : 0});
    }
    [[nodiscard]] Int3 ways(int sign) const { return {sign, sign, grid.dimensions() == 3 ? sign : 0}; }
};

/// How tasks that know nothing of PatchGeometry see nodes and centres.
template <int Dim>
ViewOf nodes_of(graph::List<double> geometry) {
    return [geometry](Task& task) {
        return [use = task.need(geometry.last())](const Here& here) {
            return PatchGeometry<Dim>(here.cells()).nodes(here[use]);
        };
    };
}
template <int Dim>
ViewOf centres_of(graph::List<double> geometry) {
    return [geometry](Task& task) {
        return [use = task.need(geometry.last())](const Here& here) {
            return PatchGeometry<Dim>(here.cells()).centres(here[use]);
        };
    };
}

/// The pressure of each outflow by mass flow, found from the sums of an iteration.
class OutletPressures {
  public:
    OutletPressures() = default;
    OutletPressures(const Step& step, Task& task);
    /// That of a boundary; of others, and at the start, its own.
    [[nodiscard]] double of(const Here& here, const Boundary& boundary) const;

  private:
    std::vector<std::pair<std::string, graph::ScalarUse<const OutletSums>>> uses_;
};

/// All borders of a patch, in their order.
template <int Dim>
void fill_borders(const Here& here, const FlowZones& grid, const Scheme& scheme,
                  const graph::ListView<const double>& geometry, const FieldView<double>& q,
                  const FieldView<double>& nu_tilde, const OutletPressures& outlets = {}) {
    const PatchGeometry<Dim> of(here.cells());
    const FieldView<const double> nodes = of.nodes(geometry);
    const GridMotion<Dim> motion{grid.motion(here.patch, here.step), of.all_speeds(geometry)};
    const GridMotion<Dim>* moves = of.moves(geometry) ? &motion : nullptr;
    for (const auto& [face, boundary] : grid.boundaries(here.patch)) {
        fill_border<Dim>(scheme.gas.gamma, *boundary, face, nodes, q, outlets.of(here, *boundary), moves);
        if (scheme.is_sst())
            fill_border_k_omega<Dim>(scheme.gas, *boundary, face, nodes, readable(q), nu_tilde, moves);
        else if (scheme.turbulent())
            fill_border_nu<Dim>(*boundary, face, nodes, readable(q), nu_tilde, moves);
    }
}

inline void copy_cells(const Box& cells, int components, const FieldView<const double>& from,
                       const FieldView<double>& to) {
    for (int c = 0; c < components; ++c)
        graph::for_each(cells, [&](int i, int j, int k) { to(i, j, k, c) = from(i, j, k, c); });
}

inline void add_cells(const Box& cells, int components, const FieldView<const double>& from,
                      const FieldView<double>& to) {
    for (int c = 0; c < components; ++c)
        graph::for_each(cells, [&](int i, int j, int k) { to(i, j, k, c) += from(i, j, k, c); });
}

/// What a task does for a cell, in profiles.
inline void declare_work(Task& task, const Work& work) { task.work(work.operations.all(), work.bytes()); }

/// What a task that changes the state gives receptors: the values of their donors before the step.
class ReceptorsFilled {
  public:
    ReceptorsFilled(const Step& step, Task& task);
    void in(const Here& here, int components, const FieldView<double>& q,
            const FieldView<double>& nu_tilde) const;

  private:
    std::shared_ptr<OversetLabels> labels_;
    graph::FieldUse<const std::int32_t> status_{};
    graph::AnswersUse<double> q_{}, nu_{};
    int model_ = 0;  // equations of the turbulence model
};

/// f(i, j, k) for the cells of which cell (i, j, k) of the next coarser grid consists.
template <int Dim, class F>
void for_children(int i, int j, int k, F&& f) {
    for (int c = 0; c < (Dim == 3 ? 2 : 1); ++c)
        for (int b = 0; b < 2; ++b)
            for (int a = 0; a < 2; ++a) f(2 * i + a, 2 * j + b, Dim == 3 ? 2 * k + c : k);
}

/// Between grids: each patch of `to` sees the one of `from` with its number, the same part of the domain.
const graph::Collect& same_patches(const std::string& name, const Step& from, const Step& to);

void make_labels(const Step& step);
/// Labels of one or more iterations, named by the step's prefix.
void make_iteration_labels(const Step& step);

/// The connectivity of meshes that overlap, of a stage; nothing in a case with one. On the finest grid more
/// orphans than may be end the run.
template <int Dim>
void declare_overset(const Step& step, bool finest = true);
/// Of meshes that move: in each step the values of cells that come out of holes, at both levels of time
/// before it.
template <int Dim>
void declare_uncovering(const Step& step);
/// Where grids that move are, and how fast: at the start, and in each step.
template <int Dim>
void declare_motion(const Step& step, Scope& in);
/// In each round the state at receptors, from their donors.
void declare_exchange(const Step& step, Scope& in);

/// Tasks of the start scope. Metrics come first, from the finest grid on: `finer`, the next finer grid or
/// none.
template <int Dim>
void declare_metrics(const Step& step, const Step* finer = nullptr);
/// Geometry, meshes that overlap, first values.
template <int Dim>
void declare_start(const Step& step, bool finest);
/// Of these what lies around patches, motion, and wall distance.
template <int Dim>
void declare_geometry(const Step& step);
/// An iteration: residual, sweeps or lines, update. `in`: the step, or a part of it.
template <int Dim>
void declare_iteration(const Step& step, Scope& in);
/// Of an iteration with Menter's model, the part that finds the turbulent viscosity (eddy_tasks.cpp).
template <int Dim>
void declare_eddies(const Step& step, Scope& in);
/// Of an iteration, the part that solves lines away from walls (line_tasks.cpp).
template <int Dim>
void declare_lines(const Step& step, Scope& in);
/// Of an iteration. `share`: of the CFL number, which is `cfl` after the ramp.
[[nodiscard]] StepSize step_size(const Settings& settings, double cfl, const Here& here, double share);
/// What comes after the iteration on the finest of these grids, which begin with the coarsest: a correction
/// from the coarser ones (multigrid.cpp).
template <int Dim>
void declare_correction(const std::vector<Step>& grids, Scope& in);
/// Sums over walls after the iterations of a scope, and what is compared with exact values.
template <int Dim>
void declare_forces(const Step& step, Scope& in);

/// What comes from the grid before, in its last state: each cell has that of the cell around it.
template <int Dim>
void declare_interpolation(const Step& coarse, const Step& fine, Scope& in);

/// The columns of the series, and whether a steady run is over.
Report declare_report(graph::Graph& graph, const Settings& settings, const Stages& stages,
                      const std::vector<Labels>& all, const FlowZones& finest, const double* cfl);

/// Means of the state over time, at the end of steps; and those of forces.
template <int Dim>
void declare_means(const Step& finest, Shown& shown);
void declare_force_means(graph::Graph& graph, const Settings& settings, const Report& report,
                         MeanLabels& means);

/// Walls, vortices, probes and means, at the end of steps.
template <int Dim>
Shown declare_shown(const Step& finest);

}  // namespace strata::flow
