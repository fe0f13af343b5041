// Nodes of grids that move, where they are at the end of a step.
#pragma once

#include <cstddef>
#include <utility>

#include "methods/curvilinear/piece.hpp"
#include "methods/geometry/rigid.hpp"

namespace strata::flow {

/// change(x) of all vectors of a field.
template <int Dim, class Change>
void change_all(const graph::FieldView<const double>& from, const graph::FieldView<double>& to,
                Change change) {
    graph::for_each(to.box(), [&](int i, int j, int k) {
        graph::Real3 x{};
        for (int d = 0; d < Dim; ++d) x[static_cast<std::size_t>(d)] = from(i, j, k, d);
        x = change(x);
        for (int d = 0; d < Dim; ++d) to(i, j, k, d) = x[static_cast<std::size_t>(d)];
    });
}

/// Takes nodes of the grid to where a mesh has them.
template <int Dim>
void place_nodes(Piece& nodes, const geometry::Rigid& placed) {
    if (placed.moves()) change_all<Dim>(std::as_const(nodes).view(), nodes.view(), placed);
}

}  // namespace strata::flow
