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
/// patches of halo atoms; F' of each atom; forces, with F' of halo atoms. Versions: of position, list and
/// way.
void find_metal_forces(const Step& step, graph::Scope& scope, int x_version, int list_version,
                       int way_version);

/// The box of the step: its scale, and what belongs to the conserved energy (barostat.hpp).
void scale_box(const Step& step);

/// After forces are found: the velocities of a minimisation and the way of the next step (fire.hpp). Versions
/// here and below: of velocity.
void go_downhill(const Step& step, graph::Scope& scope, int v_version);

/// The momentum of all atoms, where it is due, and how it is taken away before the next step.
void sum_momentum(const Step& step, graph::Scope& scope, int v_version);
void remove_drift(const Step& step);

/// Declares what reads the atoms of `settings.state`; the result gives those of a patch to the task `put`.
[[nodiscard]] std::function<std::vector<Atom>(graph::Here&)> atoms_from_file(const Step& step,
                                                                             graph::Task& put);

}  // namespace strata::md
