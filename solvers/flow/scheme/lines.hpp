// The implicit step along lines away from walls, where cells are thousands of times longer than high and
// sweeps point by point converge slowly. As Wright, Candler and Bose's data-parallel line relaxation (AIAA J.
// 36(9) (1998) 1603), with whole matrices of Dim + 2 equations for every face of a cell:
//   (V/dt + sum over faces of |A . S| / 2 + K) dq - L dq_below + U dq_above + ... = -R,
//   L = (A . S + |A . S| + K)_below / 2,  U = (A . S - |A . S| - K)_above / 2,
// K the Jacobian of viscous fluxes across a thin layer. Lines of one axis are solved exactly, by block
// elimination (Thomas' algorithm) down the line and substitution up it. They have two colours, by turns as
// the squares of a chessboard: those of the first count changes beside them as zero, those of the second see
// what the first have changed on both sides.
//
// At its lower end a line ends at a wall, whose mirror image changes with the cell; or goes on in the zone
// beyond a join, where another line ends that was eliminated towards the same face: the two last cells are
// solved together. So lines go through a C-grid's wake cut, and no zone waits for another.
#pragma once

#include "solvers/flow/scheme/lusgs.hpp"

namespace strata::flow {

/// Components of the factors: (Dim + 2)^2 of E, with dq = g - E dq_below, and one of nu~, with dnu = g + e
/// dnu_below.
template <int Dim>
inline constexpr int kLineFactors = (Dim + 2) * (Dim + 2) + 1;

/// What lies beyond an end of a patch's lines.
enum class LineEnd {
    ends,      // changes count as zero
    goes_on,   // the next patch of the zone
    joined,    // lower end: the end of a line of another zone, towards which that was eliminated, too
    wall,      // a wall without slip: velocities and nu~ of its image are the negative ones
    mirrored,  // a slip wall or plane of symmetry: the image's velocity across the face is the negative one
};

/// The lines of a patch along an axis, of one colour: 0 or 1, the parity of the indices across the lines.
struct LineSet {
    Box cells;
    int axis = 1;
    int colour = 0;
    LineEnd below = LineEnd::ends, above = LineEnd::ends;
};

/// In: R, and for the second colour the changes of the first one with one layer around (no_field() for the
/// first colour). `above`, `factors_above`: g and factors with the layer above, read where lines go on there.
/// Out, on the lines' cells: g and factors.
template <int Dim>
void eliminate_lines(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme,
                     const StepSize& step, const Diagonals& diagonals, const Upwind& residual,
                     const Upwind& beside, const Upwind& above, const FieldView<const double>& factors_above,
                     const Unknowns& g, const FieldView<double>& factors);

/// In: g and factors, of joined lines with the layer below. `below`: changes with the layer below, read where
/// lines go on there. Out, in `change`: dq of the lines' cells.
template <int Dim>
void substitute_lines(const LineSet& lines, const Scheme& scheme, const Upwind& g,
                      const FieldView<const double>& factors, const Upwind& below, const Unknowns& change);

/// The cells of the other colour: from `from`, or zero where that is no_field().
template <int Dim>
void fill_other_colour(const LineSet& lines, const Scheme& scheme, const Upwind& from,
                       const Unknowns& change);

}  // namespace strata::flow
