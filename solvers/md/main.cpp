// strata-md CASE: what `strata run` starts for cases with solver = "md".
#include "solvers/md/module.hpp"

int main(int argc, char** argv) { return strata::graph::drive<strata::md::Md>(argc, argv); }
