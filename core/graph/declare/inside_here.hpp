// The runtime's way to what is behind a Here: for what makes calls, checks them, or shows them to other
// languages. Not for tasks, which use Here's own functions.
#pragma once

#include "core/graph/declare/access.hpp"

namespace strata::graph {

struct InsideHere {
    [[nodiscard]] static CallData& of(Here& here) { return here.data_; }
    [[nodiscard]] static const CallData& of(const Here& here) { return here.data_; }
};

}  // namespace strata::graph
