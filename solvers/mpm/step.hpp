// The six tasks of the Uintah paper (McCorquodale et al. 2001), declared one by one.
#pragma once

#include <algorithm>
#include <cmath>

#include "solvers/mpm/labels.hpp"
#include "solvers/mpm/scatter.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

struct Step {
    graph::Graph& graph;
    const Settings& settings;
    const graph::Grid& grid;
    Labels& labels;
    const double* cfl;  // may be changed while the run goes on

    [[nodiscard]] graph::On on() const { return settings.quadratic() ? Quadratic::kOn : Linear::kOn; }
    [[nodiscard]] Lattice lattice() const { return {grid.shape(), settings.per_cell}; }
    /// How far beyond their patch the grid points are from which points learn.
    [[nodiscard]] graph::Ghosts reach() const {
        return settings.gimp() ? graph::ghosts({2, 2, 2}) : graph::ghosts({1, 1, 1});
    }
    /// How far what points add to the grid reaches: with linear functions to the corners of their cells, with
    /// GIMP one grid point further.
    [[nodiscard]] graph::Sides adds() const {
        if (settings.gimp()) return {{1, 1, 1}, {2, 2, 2}};
        return settings.quadratic() ? graph::Sides(reach()) : graph::Sides({0, 0, 0}, {1, 1, 1});
    }
    /// The layer of images beyond walls.
    [[nodiscard]] graph::Int3 beyond_walls() const {
        graph::Int3 layer{};
        for (std::size_t d = 0; d < 3; ++d) layer[d] = settings.wall(d) != Wall::periodic;
        return layer;
    }
    /// The largest modulus, density, and speed of waves and bodies: what sums on the grid are rounded by.
    struct Largest {
        double mass = 0, momentum = 0, force = 0, gradient = 0;  // gradient: of mass
    };
    [[nodiscard]] Largest largest() const;
};

/// Interpolate material points to the grid: momentum and mass.
void declare_m2g(const Step& step);
/// The velocity of grid points, before the step.
void declare_velocity(const Step& step);
/// Compute stress tensor: velocity gradient at material points, deformation, stress.
void declare_cst(const Step& step);
/// Compute internal force.
void declare_cif(const Step& step);
/// Both at once: the same bits, and stresses are not kept.
void declare_cst_and_cif(const Step& step);
/// Solve equations of motion: acceleration.
void declare_sem(const Step& step);
/// Integrate acceleration.
void declare_ia(const Step& step);
/// Interpolate grid to material points: velocity and position.
void declare_g2m(const Step& step);

}  // namespace strata::mpm
