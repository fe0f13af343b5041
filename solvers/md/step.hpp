// What the tasks of a step have in common.
#pragma once

#include <functional>
#include <vector>

#include "core/graph/declare/graph.hpp"
#include "solvers/md/labels.hpp"
#include "solvers/md/settings.hpp"
#include "solvers/md/start.hpp"

namespace strata::md {

struct Step {
    graph::Graph& graph;
    const Settings& settings;
    const graph::Grid& grid;
    Labels& labels;
};

/// All values, for kernels that take an array.
template <class View>
auto* pointer(const View& values) {
    return graph::pointer_to(values.data(), values.size());
}

/// Arrays of x, y and z.
template <class View, class T>
void pointers(const View& values, T* (&to)[3]) {
    for (int c = 0; c < 3; ++c) to[c] = graph::pointer_to(values.component(c).data(), values.size());
}

/// Forces of the embedded-atom method, where Lennard-Jones has one task: densities, which go back to the
/// patches of halo atoms; F' of each atom; forces, with F' of halo atoms.
void find_metal_forces(const Step& step, graph::Scope& scope);

/// Ends a run whose first energy is no number, because two atoms begin in one place.
void look_at_first_pairs(const Step& step);

/// Forces of tabulated pairs.
void find_table_forces(const Step& step, graph::Scope& scope);

/// What acts from outside (outside_tasks.cpp): labels; at the start what marks a patch's atoms, and takes
/// away the velocity of those that do not move by forces.
void make_outside_labels(const Step& step);
[[nodiscard]] std::function<void(graph::Here&, std::vector<Atom>&)> mark_atoms(const Step& step,
                                                                               graph::Task& put);
/// Sets to 0 what atoms have that do not move by forces; nothing where all do.
[[nodiscard]] std::function<void(graph::Here&, double* const values[3])> hold_atoms(const Step& step,
                                                                                    graph::Task& task);
/// In a drift: moves atoms of moving groups, and turns others round at reflecting walls. Returns the square
/// of the longest way of the former. Nothing where there is neither.
[[nodiscard]] std::function<double(graph::Here&, std::int64_t count, double* const x[3], double* const v[3])>
carry_atoms(const Step& step, graph::Task& drift);
/// A task that adds to the forces of atoms, and looks at groups.
void act_from_outside(const Step& step, graph::Scope& scope);
/// Adds up forces on walls and work; the columns of the series.
void add_up_outside(const Step& step, graph::Scope& scope);
/// The scale of the step's box (barostat.hpp); and when forces are found, what belongs to the conserved
/// energy.
graph::Task scale_box(const Step& step);
void add_up_work(const Step& step, graph::Task add);

/// After forces are found: the velocities of a minimisation and the way of the next step (fire.hpp).
void go_downhill(const Step& step, graph::Scope& scope);

/// The momentum of all atoms, where it is due, and how it is taken away before the next step.
void sum_momentum(const Step& step, graph::Scope& scope);
void begin_to_remove_drift(const Step& step);
void remove_drift(const Step& step);

/// Declares what reads the atoms of `settings.state`; the result gives those of a patch to the task `put`.
[[nodiscard]] std::function<std::vector<Atom>(graph::Here&)> atoms_from_file(const Step& step,
                                                                             graph::Task& put);

}  // namespace strata::md
