// What generators share.
#pragma once

#include <string>

#include "methods/curvilinear/generate.hpp"
#include "methods/curvilinear/grid.hpp"

namespace strata::flow {

/// Throws Error naming a key where a condition does not hold.
void require(bool holds, const std::string& key, const std::string& given, const std::string& allowed);
/// A whole face.
void add_boundary(GridSystem& system, int zone, const Face& face, const std::string& name);

}  // namespace strata::flow
