// What the kernels read of one patch.
#pragma once

#include <array>
#include <cstddef>

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
    /// The field of step viscosities, with one ghost layer, where it has the turbulent viscosity
    /// (Scheme::keeps_eddies()).
    FieldView<const double> eddies = no_field();
};

}  // namespace strata::flow
