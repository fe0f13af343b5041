// The implicit step along lines, with whole matrices of Dim + 2 equations for every face of a cell. With
//   D = V/dt + sum over faces of |A . S| / 2 + K,
//   T = the neighbours' parts along one axis, - L dq_below + U dq_above,
//   L = (A . S + |A . S|)_below / 2 + K_below,  U = (A . S - |A . S|)_above / 2 - K_above,
// and K the Jacobian of viscous fluxes across a thin layer (waves.hpp), the step is factored with the whole
// diagonal in every factor (Bardina and Lombard, AIAA 87-0592; MacCormack, AIAA 97-2100):
//   (D + T_j) D^-1 (D + T_i) dq = -R,
// first along lines away from walls, where cells are thousands of times longer than high, then along the
// others. Each factor is solved exactly, by block elimination (Thomas' algorithm) down the lines and
// substitution up them.
//
// At its lower end a line ends at a wall, whose mirror image changes with the cell; or goes on in the zone
// beyond a join, where another line ends that was eliminated towards the same face: the two last cells are
// solved together. So lines go through a C-grid's wake cut, and no zone waits for another.
#pragma once

#include "solvers/flow/scheme/lusgs.hpp"

namespace strata::flow {

/// Components of the factors: (Dim + 2)^2 of E, with dq = g - E dq_below, and one of each equation of the
/// model, with dnu = g + e dnu_below.
template <int Dim>
inline constexpr int kLineFactors = (Dim + 2) * (Dim + 2) + 1;
template <int Dim>
[[nodiscard]] int line_factors(const Scheme& scheme) {
    return kLineFactors<Dim> + (scheme.is_sst() ? 1 : 0);
}

/// What lies beyond an end of a patch's lines.
enum class LineEnd {
    ends,      // changes count as zero
    seam,      // there is another zone, whose changes count as zero
    goes_on,   // the next patch of the zone
    joined,    // lower end: the end of a line of another zone, towards which that was eliminated, too
    wall,      // a wall without slip: velocities and the model's changes of its image are the negative ones
    mirrored,  // a slip wall or plane of symmetry: the image's velocity across the face is the negative one
};

/// The lines of a patch along an axis.
struct LineSet {
    Box cells;
    int axis = 1;
    bool is_first = true;  // factor of the step
    LineEnd below = LineEnd::ends, above = LineEnd::ends;
    bool holds = false;  // whether there are cells that the step leaves as they are (kHeld)
};

/// D of each cell, by rows, and a last component that the model's equations need; the first factor makes
/// them, others are given them. Where there are none each factor finds them anew.
template <int Dim>
inline constexpr int kLineMatrix = (Dim + 2) * (Dim + 2) + 1;
struct LineMatrices {
    FieldView<const double> given = no_field();
    FieldView<double> made = no_result();
};

/// In: R for the first factor, what the factor before has made for others. `above`, `factors_above`: g and
/// factors with the layer above, read where lines go on there. Out: g and factors.
template <int Dim>
void eliminate_lines(const LineSet& lines, const Patch<Dim>& patch, const Scheme& scheme,
                     const StepSize& step, const Diagonals& diagonals, const Upwind& given,
                     const Upwind& above, const FieldView<const double>& factors_above, const Unknowns& g,
                     const FieldView<double>& factors, const LineMatrices& matrices = {});

/// In: g and factors, of joined lines with the layer below. `below`: changes with the layer below, read where
/// lines go on there. Out, in `change`: dq.
template <int Dim>
void substitute_lines(const LineSet& lines, const Scheme& scheme, const Upwind& g,
                      const FieldView<const double>& factors, const Upwind& below, const Unknowns& change);

}  // namespace strata::flow
