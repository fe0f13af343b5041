// The implicit step along lines away from walls, where cells are thousands of times longer than high and
// point by point sweeps converge slowly. As Wright, Candler and Bose's data-parallel line relaxation (AIAA J.
// 36(9) (1998) 1603) with the fluxes of lusgs.hpp: along one axis the equations of a line are solved exactly,
//   D dq - L dq_below + U dq_above = -R,   L = (A . S + |A . S| + 2 r_v)_below / 2,  U = (A . S - |A . S| - 2
//   r_v)_above / 2,
// with the viscous radius r_v = nu |S|^2 / V, by block elimination (Thomas' algorithm) up the line and
// substitution down it; along the other axes dq of the neighbours counts as zero, D being that of lusgs.hpp
// there and half of |A . S| of both faces along the line. Lanes are eight lines side by side along x.
#pragma once

#include "solvers/flow/scheme/lusgs.hpp"

namespace strata::flow {

/// Components of the factors: (Dim + 2)^2 of E, with dq = g - E dq_above, and one of nu~.
template <int Dim>
inline constexpr int kLineFactors = (Dim + 2) * (Dim + 2) + 1;

/// Before: R in `unknowns`; after: g, and E in `factors`. `axis`: 1 or 2. `open`: whether lines go on in the
/// patch below, and in that above. `behind`, `factors_behind`: g and E of the layer below, which are read
/// where lines go on there.
template <int Dim>
void eliminate_lines(const Box& cells, int axis, const Patch<Dim>& patch, const Scheme& scheme,
                     const Diagonals& diagonals, const std::array<bool, 2>& open, const Upwind& behind,
                     const FieldView<const double>& factors_behind, const FieldView<double>& factors,
                     const Unknowns& unknowns);

/// Before: g; after: dq. `ahead`: dq of the layer above.
template <int Dim>
void substitute_lines(const Box& cells, int axis, const Scheme& scheme, bool open, const Upwind& ahead,
                      const FieldView<const double>& factors, const Unknowns& unknowns);

}  // namespace strata::flow
