// What the kernels do for a cell: for profiles and rooflines.
//
// One operation is an addition, subtraction, multiplication, division, root, comparison, maximum or minimum;
// a change of sign and a choice are none. They are counted by kind, since processors have units of their own
// for them, some much slower than others. Counted is what kernels execute in the middle of a large block,
// without what is done once a row or at its ends; roots that are found by iteration count with all of it.
// tests/solvers/flow/test_flow_work.cpp counts again.
#pragma once

#include "solvers/flow/scheme/options.hpp"

namespace strata::flow {

/// Sums and differences, products, quotients, roots; comparisons with maxima and minima.
struct Operations {
    double sums = 0, products = 0, quotients = 0, roots = 0, comparisons = 0;
    [[nodiscard]] double all() const { return sums + products + quotients + roots + comparisons; }
    [[nodiscard]] Operations operator+(const Operations& o) const {
        return {sums + o.sums, products + o.products, quotients + o.quotients, roots + o.roots,
                comparisons + o.comparisons};
    }
    bool operator==(const Operations&) const = default;
    [[nodiscard]] Operations operator*(double n) const {
        return {n * sums, n * products, n * quotients, n * roots, n * comparisons};
    }
};

/// Of one cell.
struct Work {
    Operations operations;
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
