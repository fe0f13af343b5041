#pragma once

#include "benchmarks/npb/flow/domain.hpp"
#include "benchmarks/npb/mz/zones.hpp"

namespace strata::npb::mz {

struct Problem {
    int iterations;
    double dt;
    flow::Official official;  // NPB 3.4-MZ: norms, summed over zones; relative errors at most 1e-8
    double integral;          // LU: surface integrals, summed
};

[[nodiscard]] const Problem& problem_of(Kind kind, Class size);

}  // namespace strata::npb::mz
