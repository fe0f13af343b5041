// Compiled twice, with and without STRATA_CHECKED_GRAPH, and never inlined: what one object file calls must
// not be what the other one brought along.
#include "tests/graph/checked/mixed_use.hpp"

namespace strata::graph {

double& TEST_SCALAR(const Here& here, ScalarUse<double> use) { return here[use]; }
bool TEST_MOVED(const Here& here, SetId set) { return here.moved(set).checked; }

}  // namespace strata::graph
