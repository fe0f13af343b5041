// What the kernels do for a cell: for profiles and rooflines.
//
// One operation is an addition, subtraction, multiplication, division, root, comparison, maximum or minimum;
// a change of sign and a choice are none. Counted is what kernels execute in the middle of a large block,
// without what is done once a row or at its ends; roots that are found by iteration count with all of it.
// tests/solvers/test_flow_work.cpp counts again.
#pragma once

#include "solvers/flow/scheme/options.hpp"

namespace strata::flow {

/// Of one cell.
struct Work {
    double operations = 0;
    /// Doubles that have to be read and written at least, each array once.
    double read = 0, written = 0;
    /// The same in bytes, where a line of the caches that is written is read first.
    [[nodiscard]] double bytes() const { return 8 * (read + 2 * written); }
    [[nodiscard]] Work operator+(const Work& other) const {
        return {operations + other.operations, read + other.read, written + other.written};
    }
};

/// Two or three dimensions, with the options of a scheme. Not counted: axisymmetric flow's source.
class WorkOf {
  public:
    WorkOf(int dimensions, const Scheme& scheme);
    [[nodiscard]] Work residual() const;
    [[nodiscard]] Work eddies() const;  // with Menter's model
    [[nodiscard]] Work diagonals() const;
    [[nodiscard]] Work sweep() const;  // forward, and backward the same
    [[nodiscard]] Work viscosity() const;
    [[nodiscard]] Work update() const;
    /// Lines along one axis: down, and up again. `first`: of the factors of the step.
    [[nodiscard]] Work elimination(bool first) const;
    [[nodiscard]] Work substitution() const;

  private:
    /// Numbers of unknowns, of a model's among them, and of face vectors' components.
    double n_, model_, faces_;
    int d_;
    Scheme scheme_;
};

}  // namespace strata::flow
