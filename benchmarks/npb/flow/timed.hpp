#pragma once

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/progress.hpp"
#include "benchmarks/npb/common/group.hpp"

namespace strata::npb::flow {

/// Seconds that the slowest process takes for `iterations` calls of iterate() and for last(), from when all
/// have met.
template <class Iterate, class Last>
[[nodiscard]] double timed(Group& group, const char* name, int iterations, Iterate&& iterate, Last&& last) {
    bench::Progress progress(name, static_cast<std::size_t>(iterations));
    group.meet();
    const double start = bench::now();
    for (int iteration = 0; iteration < iterations; ++iteration) {
        iterate();
        if (group.first()) progress.step();
    }
    last();
    group.meet();
    return group.max(bench::now() - start);
}

}  // namespace strata::npb::flow
