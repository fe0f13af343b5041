// Eight cells at once along x: lanes of core/lanes, from rows of fields and back.
#pragma once

#include "core/graph/declare/view.hpp"
#include "core/lanes/functions.hpp"
#include "core/lanes/lanes.hpp"
#include "core/lanes/memory.hpp"

namespace strata::flow {

// Beside what this solver calls by the same names.
using strata::abs;
using strata::broadcast;
using strata::exp;
using strata::kLanes;
using strata::Lanes;
using strata::load;
using strata::log;
using strata::max;
using strata::min;
using strata::select;
using strata::shuffle;
using strata::sqrt;
using strata::store;

/// From and to a row of a field, at index i.
inline Lanes load(const graph::FieldView<const double>& f, int i, int j, int k, int c, int n) {
    return load(graph::pointer_to(f.row(j, k, c) + i, n < kLanes ? n : kLanes), n);
}
inline void store(const graph::FieldView<double>& f, int i, int j, int k, int c, const Lanes& x, int n) {
    store(graph::pointer_to(f.row(j, k, c) + i, n < kLanes ? n : kLanes), x, n);
}

}  // namespace strata::flow
