// What tasks ask for of a patch's material points.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "solvers/mpm/labels.hpp"
#include "solvers/mpm/scatter.hpp"
#include "solvers/mpm/settings.hpp"

namespace strata::mpm {

/// Where a patch is, for errors.
inline std::string place_of(const graph::Here& here) {
    const graph::Grid& grid = here.grid();
    const graph::Box box = here.cells();
    const graph::Real3 low = grid.place(box.lo),
                       high = grid.place({box.hi[0] - 1, box.hi[1] - 1, box.hi[2] - 1});
    return fmt::format("between ({:.6g}, {:.6g}, {:.6g}) and ({:.6g}, {:.6g}, {:.6g}) m", low[0], low[1],
                       low[2], high[0], high[1], high[2]);
}

/// The first value of a component of a particle label.
template <class T>
T* start_of(const graph::ListView<T>& values, int component = 0) {
    const auto all = values.component(component);
    return graph::pointer_to(all.data(), values.size());
}

/// The runs of particles by cell, from positions that a task needs. Memory of the thread.
template <class X>
const std::vector<Run>& runs_of(graph::Here& here, const graph::ListView<X>& x, const Lattice& lattice) {
    static thread_local std::vector<Run> runs;
    const double* const at[3] = {start_of(x, 0), start_of(x, 1), start_of(x, 2)};
    if (find_runs(here.cells(), lattice, at, x.size(), runs) >= 0)
        here.fail(
            fmt::format("the 'position' of a point {} is no number, or not in its patch: the step is "
                        "unstable; try a smaller time.cfl",
                        place_of(here)));
    return runs;
}

/// body(Linear{}), body(Quadratic{}) or body(Gimp{}).
template <class Body>
void with_shape(const Settings& s, Body body) {
    if (s.quadratic())
        body(Quadratic{});
    else if (s.gimp())
        body(Gimp{});
    else
        body(Linear{});
}

/// body(run, first, n) for up to eight particles of a cell at a time.
template <class Body>
void for_blocks(const std::vector<Run>& runs, Body body) {
    for (const Run& run : runs) for_blocks(run, [&](std::int64_t first, int n) { body(run, first, n); });
}

}  // namespace strata::mpm
