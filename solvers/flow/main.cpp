// strata-flow CASE: what `strata run` starts for cases with solver = "flow".
#include "solvers/flow/module.hpp"

int main(int argc, char** argv) { return strata::graph::drive<strata::flow::FlowModule>(argc, argv); }
