// What tasks around kernels have in common: where results go, and what each step says of a field.
#pragma once

#include <string>

#include "core/graph/declare/graph.hpp"
#include "core/graph/kernels/rows.hpp"

namespace strata::graph::kernels {

[[nodiscard]] inline Stores stores(const Here& here) {
    return here.past_caches() ? Stores::past_caches : Stores::cached;
}

/// The integral, smallest and largest value of a field, found while it is written (Summary): for series, and
/// for what makes a result count.
struct Report {
    Scalar<double> total, least, most;

    /// The scalars "total", "least" and "most".
    static Report add(Graph& graph, const std::string& unit, const std::string& unit_of_total) {
        return {graph.scalar<double>("total", Reduce::sum, 0, {.unit = unit_of_total}),
                graph.scalar<double>("least", Reduce::min, 0, {.unit = unit}),
                graph.scalar<double>("most", Reduce::max, 0, {.unit = unit})};
    }

    struct Uses {
        ScalarUse<double> total, least, most;
        /// `h`: the widths of cells.
        void say(Here& here, const Summary& summary, const Real3& h) const {
            here[total] = summary.sum() * h[0] * h[1] * h[2];
            here[least] = summary.least();
            here[most] = summary.most();
        }
    };
    [[nodiscard]] Uses contribute(Task& task) const {
        return {task.contribute(total), task.contribute(least), task.contribute(most)};
    }
};

}  // namespace strata::graph::kernels
