// Menter's model: the turbulent viscosity of cells, and what else its equations need of gradients in them.
#pragma once

#include "solvers/flow/scheme/options.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// Of own cells, into components kEddy to kCross of the field of step viscosities. Reads q, and k and omega,
/// in one layer of ghosts along each axis.
template <int Dim>
void eddies(const Box& cells, const Patch<Dim>& patch, const Scheme& scheme,
            const FieldView<double>& viscosity);

}  // namespace strata::flow
