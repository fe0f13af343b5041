// Layers beyond walls without a gradient: values of a label with a border.
#pragma once

#include <algorithm>

#include "core/graph/declare/view.hpp"

namespace strata::graph::kernels {

/// Fills the layers beyond walls along y and z (`values` reach over them, `cells` are the patch's) with the
/// value of the nearest cell: no gradient at the wall. Those along x are written with the row.
inline void copy_rows_to_walls(const Box& cells, const FieldView<double>& values) {
    const Box all = values.box();
    const auto copy_row = [&](int from_j, int from_k, int j, int k) {
        const Row<const double> from = values.row(from_j, from_k) + cells.lo[0];
        std::copy(from, from + cells.extent(0), values.row(j, k) + cells.lo[0]);
    };
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k) {
        for (int j = all.lo[1]; j < cells.lo[1]; ++j) copy_row(cells.lo[1], k, j, k);
        for (int j = cells.hi[1]; j < all.hi[1]; ++j) copy_row(cells.hi[1] - 1, k, j, k);
    }
    for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
        for (int k = all.lo[2]; k < cells.lo[2]; ++k) copy_row(j, cells.lo[2], j, k);
        for (int k = cells.hi[2]; k < all.hi[2]; ++k) copy_row(j, cells.hi[2] - 1, j, k);
    }
}

/// All layers beyond walls, of values that no sweep wrote.
inline void extend_to_walls(const Box& cells, const FieldView<double>& values) {
    const Box all = values.box();
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
        for (int j = cells.lo[1]; j < cells.hi[1]; ++j) {
            const Row<double> row = values.row(j, k);
            for (int i = all.lo[0]; i < cells.lo[0]; ++i) row[i] = row[cells.lo[0]];
            for (int i = cells.hi[0]; i < all.hi[0]; ++i) row[i] = row[cells.hi[0] - 1];
        }
    copy_rows_to_walls(cells, values);
}

}  // namespace strata::graph::kernels
