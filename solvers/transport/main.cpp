// strata-transport CASE: what `strata run` starts for cases with solver = "transport".
#include "solvers/transport/module.hpp"

int main(int argc, char** argv) { return strata::graph::drive<strata::transport::Transport>(argc, argv); }
