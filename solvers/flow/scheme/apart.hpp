// Where eight values of a field lie that are apart in memory.
#pragma once

#include <cstddef>

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// `cells` values from `at` on along x, in n rows side by side along y: where those of the first row lie. A
/// checking build checks them all.
template <class T>
T* apart_pointer(const FieldView<T>& f, const Int3& at, int c, int n, int cells = 1) {
    if constexpr (graph::kChecked)
        for (int l = 1; l < n; ++l) (void)graph::pointer_to(f.row(at[1] + l, at[2], c) + at[0], cells);
    return graph::pointer_to(f.row(at[1], at[2], c) + at[0], cells);
}

}  // namespace strata::flow
