// What the tasks do: floating-point operations that the result needs (an addition, multiplication, division,
// square root or comparison is one, a fused multiplication and addition would be two; lanes without a
// particle count nothing), and bytes that must move at least, each array of a particle or grid point once.
// For profiles and rooflines. The formulas were written down from the kernels;
// tests/solvers/mpm/test_mpm_work.cpp holds them to what the kernels do. Not declared: what happens once a
// task, at walls, and where bodies touch at a grid point.
#pragma once

#include "solvers/mpm/step.hpp"

namespace strata::mpm {

/// For one particle, and for one cell that has particles (or one grid point).
struct Count {
    double flops = 0, bytes = 0;
};
struct Counted {
    Count particle, cell;
};

[[nodiscard]] Counted work_of_m2g(const Settings& s);
[[nodiscard]] Counted work_of_cst(const Settings& s);
[[nodiscard]] Counted work_of_cif(const Settings& s);
/// CST and CIF in one: what is loaded, and found out, once.
[[nodiscard]] Counted work_of_cst_and_cif(const Settings& s);
[[nodiscard]] Counted work_of_g2m(const Settings& s);
/// For one grid point, all velocity fields.
[[nodiscard]] Count work_of_velocity(const Settings& s);
[[nodiscard]] Count work_of_sem(const Settings& s);
[[nodiscard]] Count work_of_ia(const Settings& s);

/// Declares it for a task on the set's particles; cells count as full.
void declare_work(const Step& step, graph::Task& task, const Counted& counted);
/// Declares it for a task on grid points, of which there are as many as cells.
inline void declare_work(graph::Task& task, const Count& counted) { task.work(counted.flops, counted.bytes); }

}  // namespace strata::mpm
