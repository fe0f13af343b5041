// strata-mpm CASE: what `strata run` starts for cases with solver = "mpm".
#include "solvers/mpm/module.hpp"

int main(int argc, char** argv) { return strata::graph::drive<strata::mpm::Mpm>(argc, argv); }
