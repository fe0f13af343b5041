// One block of cells for tests of the flow solver's kernels: a grid by a function, fields with ghosts, all on
// plain arrays.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "methods/curvilinear/metrics.hpp"
#include "solvers/flow/scheme/eddies.hpp"
#include "solvers/flow/scheme/gas.hpp"
#include "solvers/flow/scheme/lusgs.hpp"
#include "solvers/flow/scheme/residual.hpp"

namespace flow_test {

using namespace strata::flow;
using strata::graph::Real3;

/// Values over a box; indices begin anywhere. What nothing wrote is not a number.
struct Values {
    Box box;
    int components;
    std::vector<double> data;
    Values(const Box& box_, int components_)
        : box(box_),
          components(components_),
          data(static_cast<std::size_t>(box_.volume() * components_), std::nan("")) {}
    template <class T>
    [[nodiscard]] FieldView<T> seen(T* first) const {
        const std::ptrdiff_t y = box.extent(0), z = y * box.extent(1), c = z * box.extent(2);
        return {first - box.lo[0] - box.lo[1] * y - box.lo[2] * z, y, z, c, box};
    }
    FieldView<double> view() { return seen<double>(data.data()); }
    [[nodiscard]] FieldView<const double> read() const { return seen<const double>(data.data()); }
    void fill(double value) { data.assign(data.size(), value); }
};

template <int Dim>
Box grown(const Box& box, int layers) {
    return box.grown({layers, layers, Dim == 3 ? layers : 0});
}

/// Cells of [0, n) along each axis from a map of node indices to space. `nu`: of Spalart and Allmaras, or k
/// and omega.
template <int Dim>
struct Block {
    Box cells, around, beside;
    Values nodes, volume, centre, distance, viscosity, q, nu, mean, nu_residual, inverse, nu_inverse;
    std::vector<Values> faces;

    template <class Map>
    Block(const Int3& n, Map&& map)
        : cells{{0, 0, 0}, n},
          around(grown<Dim>(cells, 2)),
          beside(grown<Dim>(cells, 1)),
          nodes(upper(around, {1, 1, Dim == 3 ? 1 : 0}), Dim),
          volume(around, 1),
          centre(around, Dim),
          distance(beside, 1),
          viscosity(beside, kSstViscosities),
          q(around, Dim + 2),
          nu(around, 2),
          mean(around, Dim + 2),
          nu_residual(around, 2),
          inverse(cells, 1),
          nu_inverse(cells, 2) {
        strata::graph::for_each(nodes.box, [&](int i, int j, int k) {
            const Real3 x = map(i, j, k);
            for (int d = 0; d < Dim; ++d) nodes.view()(i, j, k, d) = x[static_cast<std::size_t>(d)];
        });
        volumes<Dim>(around, nodes.read(), volume.view());
        centres<Dim>(around, nodes.read(), centre.view());
        for (int axis = 0; axis < Dim; ++axis) {
            Int3 more{};
            more[static_cast<std::size_t>(axis)] = 1;
            faces.emplace_back(upper(cells, more), Dim);
            face_vectors<Dim>(axis, faces.back().box, nodes.read(), faces.back().view());
        }
        distance.fill(1);
    }
    static Box upper(Box box, const Int3& by) {
        for (std::size_t a = 0; a < 3; ++a) box.hi[a] += by[a];
        return box;
    }
    [[nodiscard]] Patch<Dim> patch() const {
        if constexpr (Dim == 2)
            return {q.read(),         nu.read(),       {faces[0].read(), faces[1].read()},
                    volume.read(),    centre.read(),   distance.read(),
                    no_fields<Dim>(), viscosity.read()};
        else
            return {q.read(),         nu.read(),       {faces[0].read(), faces[1].read(), faces[2].read()},
                    volume.read(),    centre.read(),   distance.read(),
                    no_fields<Dim>(), viscosity.read()};
    }
    [[nodiscard]] Real3 centre_of(int i, int j, int k) const {
        Real3 x{};
        for (int d = 0; d < Dim; ++d) x[static_cast<std::size_t>(d)] = centre.read()(i, j, k, d);
        return x;
    }
    /// The state at a place, into all cells of a box: `at` gives a Primitive.
    template <class At>
    void set(const Box& box, At&& at, double gamma = 1.4) {
        strata::graph::for_each(box, [&](int i, int j, int k) {
            const Conserved<Dim, double> s = conserved<Dim, double>(at(centre_of(i, j, k)), gamma);
            put(i, j, k, s);
        });
    }
    void put(int i, int j, int k, const Conserved<Dim, double>& s) {
        q.view()(i, j, k, 0) = s.rho;
        for (int d = 0; d < Dim; ++d) q.view()(i, j, k, d + 1) = s.m[static_cast<std::size_t>(d)];
        q.view()(i, j, k, Dim + 1) = s.E;
    }
    [[nodiscard]] Primitive<Dim, double> state(int i, int j, int k) const {
        Conserved<Dim, double> s;
        s.rho = q.read()(i, j, k, 0);
        for (int d = 0; d < Dim; ++d) s.m[static_cast<std::size_t>(d)] = q.read()(i, j, k, d + 1);
        s.E = q.read()(i, j, k, Dim + 1);
        return primitive(s, 1.4);
    }
    /// Ghosts along an axis from the other end; edges follow where the axes come one after the other.
    void periodic(int axis) {
        const auto a = static_cast<std::size_t>(axis);
        const int n = cells.hi[a];
        strata::graph::for_each(around, [&](int i, int j, int k) {
            Int3 at{i, j, k};
            if (at[a] >= 0 && at[a] < n) return;
            at[a] = (at[a] + n) % n;
            for (int c = 0; c < Dim + 2; ++c) q.view()(i, j, k, c) = q.view()(at[0], at[1], at[2], c);
            for (int m = 0; m < 2; ++m) nu.view()(i, j, k, m) = nu.view()(at[0], at[1], at[2], m);
        });
    }
    void compute(const Scheme& scheme) {
        if (scheme.is_sst()) eddies<Dim>(beside, patch(), scheme, viscosity.view());
        residual<Dim>(cells, patch(), scheme, mean.view(), nu_residual.view(), nu_inverse.view());
    }
    /// One implicit step; values around are zero where a sweep begins. Returns what update() says.
    UpdateCount step(const Scheme& scheme, const StepSize& size, double most = 0.2) {
        diagonal(scheme, size);
        sweeps(scheme, cells);
        return update<Dim>(cells, scheme, most, mean.read(), nu_residual.read(), q.view(), nu.view());
    }
    void diagonal(const Scheme& scheme, const StepSize& size) {
        if (scheme.viscous()) {
            step_viscosity<Dim>(cells, patch(), scheme, viscosity.view());
            for (int axis = 0; axis < Dim; ++axis)
                for (const bool upper_side : {false, true}) {
                    const auto a = static_cast<std::size_t>(axis);
                    Box ghost = cells;
                    ghost.lo[a] = upper_side ? cells.hi[a] : cells.lo[a] - 1;
                    ghost.hi[a] = ghost.lo[a] + 1;
                    step_viscosity<Dim>(ghost, patch(), scheme, viscosity.view());
                }
        }
        diagonals<Dim>(cells, patch(), scheme, size, viscosity.read(), inverse.view(), nu_inverse.view());
    }
    /// Both sweeps, over patches of a size in their order.
    void sweeps(const Scheme& scheme, const Box& patch_cells) {
        const Diagonals d{inverse.read(), nu_inverse.read(), viscosity.read()};
        const Upwind upwind{mean.read(), nu_residual.read()};
        const Unknowns unknowns{mean.view(), nu_residual.view()};
        const Int3 size{patch_cells.extent(0), patch_cells.extent(1), patch_cells.extent(2)};
        for (const bool forward : {true, false}) {
            Int3 count{};
            for (std::size_t a = 0; a < 3; ++a) count[a] = (cells.hi[a] + size[a] - 1) / size[a];
            strata::graph::for_each({{0, 0, 0}, count}, [&](int i, int j, int k) {
                Int3 at{i, j, k};
                Box part;
                std::array<bool, 3> open{};
                for (std::size_t a = 0; a < 3; ++a) {
                    if (!forward) at[a] = count[a] - 1 - at[a];
                    part.lo[a] = at[a] * size[a];
                    part.hi[a] = std::min(part.lo[a] + size[a], cells.hi[a]);
                    open[a] = forward ? part.lo[a] > 0 : part.hi[a] < cells.hi[a];
                }
                if (forward)
                    forward_sweep<Dim>(part, patch(), scheme, d, open, upwind, unknowns);
                else
                    backward_sweep<Dim>(part, patch(), scheme, d, open, upwind, unknowns);
            });
        }
    }
};

/// A grid of the unit square or cube with n cells along each axis, its lines bent by `bend` cells' worth of
/// waves.
template <int Dim>
auto wavy(const Int3& n, double bend) {
    return [n, bend](int i, int j, int k) {
        const double pi = std::numbers::pi;
        const double x = double(i) / n[0], y = double(j) / n[1], z = Dim == 3 ? double(k) / n[2] : 0.25;
        const double a = 2 * pi * x, b = 2 * pi * y, c = 2 * pi * z;
        return Real3{x + bend * std::sin(a + 0.3) * std::sin(b) * std::sin(c + 0.2),
                     y + bend * std::sin(a) * std::sin(b + 0.7) * std::cos(c - 0.7),
                     z + bend * std::sin(a + 0.5) * std::sin(b - 0.4) * std::sin(c)};
    };
}

}  // namespace flow_test
