// What the kernels read of one patch.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

#include "core/graph/declare/view.hpp"

namespace strata::flow {

using graph::Box;
using graph::FieldView;
using graph::Int3;

/// For what a scheme does without.
inline FieldView<const double> no_field() { return {nullptr, 0, 0, 0, Box{}}; }
inline FieldView<double> no_result() { return {nullptr, 0, 0, 0, Box{}}; }

/// A field that is written, for reading.
inline FieldView<const double> readable(const FieldView<double>& f) {
    return {f.origin(), f.stride(1), f.stride(2), f.component_stride(), f.box()};
}

/// A field for each axis that a scheme does without.
template <int Dim>
std::array<FieldView<const double>, static_cast<std::size_t>(Dim)> no_fields() {
    if constexpr (Dim == 2)
        return {no_field(), no_field()};
    else
        return {no_field(), no_field(), no_field()};
}
/// Components of the field of step viscosities (lusgs.hpp) with Menter's model: mu_t; F1 (sst.hpp); P / mu_t;
/// grad k . grad omega.
inline constexpr int kEddy = 4, kInner = 5, kRate = 6, kCross = 7;
/// And of its variables.
inline constexpr int kK = 0, kOmega = 1;

/// Axes beyond Dim have one layer of cells and no ghosts.
template <int Dim>
struct Patch {
    /// rho, rho u_d, rho E. Two ghost layers beyond the faces; viscous: also the edges and corners of the
    /// first layer.
    FieldView<const double> q;
    /// Spalart and Allmaras' variable, or Menter's k and omega, with the same ghosts; else no_field().
    FieldView<const double> nu_tilde;
    /// Area vectors (Dim components) of the patch's own faces along each axis, up the index: faces[d](i, j,
    /// k) is the lower face of cell (i, j, k).
    std::array<FieldView<const double>, static_cast<std::size_t>(Dim)> faces;
    /// One ghost layer.
    FieldView<const double> volumes;
    /// Dim components; viscous: one ghost layer with edges and corners.
    FieldView<const double> centres;
    /// Of own cells; turbulence models alone.
    FieldView<const double> wall_distance;
    /// Where the grid moves: the volume that each of these faces sweeps up the index in a unit of time, the
    /// integral of its velocity . dS. The flux through it is then F(q) . S - speed q (Thomas, P. D., Lombard,
    /// C. K. (1979), AIAA J. 17(10)), and waves cross it at lambda - speed / |S|. no_fields(): the grid
    /// stands still.
    std::array<FieldView<const double>, static_cast<std::size_t>(Dim)> speeds = no_fields<Dim>();
    [[nodiscard]] bool moves() const { return speeds[0].origin() != nullptr; }
    /// The field of step viscosities, with one ghost layer, where it has the turbulent viscosity
    /// (Scheme::keeps_eddies()).
    FieldView<const double> eddies = no_field();
};

/// Calls f(std::true_type) where the grid moves, else f(std::false_type): loops over cells that stand still
/// know of no speed.
template <int Dim, class F>
auto by_motion(const Patch<Dim>& patch, F&& f) {
    return patch.moves() ? f(std::true_type{}) : f(std::false_type{});
}

}  // namespace strata::flow
