// How fast a core does operations of each kind, and the least time that a kernel's own mix of them takes.
#pragma once

#include <algorithm>

#include "solvers/flow/scheme/work.hpp"

namespace strata::flow {

/// Operations a second in lanes, as many at once as the processor takes.
struct Rates {
    double sums = 0, products = 0;
    double both = 0;  ///< sums and products in equal numbers
    double quotients = 0, roots = 0;
    double fused = 0;  ///< products with a sum in one operation, each counted as two: the processor's peak

    /// Seconds that operations of one cell take at least, as the in-core part of the execution-cache-memory
    /// model has it: units work side by side, and the busiest counts (Stengel, H., Treibig, J., Hager, G.,
    /// Wellein, G. (2015), "Quantifying performance bottlenecks of stencil computations using the
    /// execution-cache-memory model", ICS). Comparisons go through the adders. Quotients and roots share a
    /// unit beside the others.
    [[nodiscard]] double least_time(const Operations& o) const {
        const double added = o.sums + o.comparisons;
        return std::max({added / sums, o.products / products, (added + o.products) / both,
                         o.quotients / quotients + o.roots / roots});
    }
};

/// Measured on this core, each for so many seconds, of which the shortest repeat counts.
Rates measured_rates(double seconds);

/// What the roofline of quotients and roots stands on: the time of sums and products in equal numbers with
/// quotients beside them, over the longer of the times that both take alone; 1: they do not hinder each
/// other.
double quotients_beside(double seconds);

}  // namespace strata::flow
