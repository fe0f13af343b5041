// The same functions from two object files of one program: one of a checking build, one of another.
#pragma once

#include "core/graph/declare/access.hpp"

namespace strata::graph {

/// The scalar that a use means.
[[nodiscard]] double& checked_scalar(const Here& here, ScalarUse<double> use);
[[nodiscard]] double& unchecked_scalar(const Here& here, ScalarUse<double> use);
/// Whether a relocation is told to make sure that no particle was left out.
[[nodiscard]] bool checked_moved(const Here& here, SetId set);
[[nodiscard]] bool unchecked_moved(const Here& here, SetId set);

}  // namespace strata::graph
