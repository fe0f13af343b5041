// What the tasks do, counted by hand from the kernels: floating-point operations that the result needs (an
// addition, multiplication, division or comparison is one; lanes without a particle count nothing), and bytes
// that must move at least, each array of a particle or grid point once. For profiles and rooflines; not
// counted: contact, and what happens once a task.
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

/// Declares it for a task on the set's particles; cells count as full.
void declare_work(const Step& step, graph::Task& task, const Counted& counted);

}  // namespace strata::mpm
