// How long all processes take for what they do at once.
#pragma once

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/group.hpp"

namespace strata::bench {

/// Seconds from when the first process begins with `work` until the last one has ended it, the same on each.
/// The longest of their own times would not do: two processes that take turns on one core would each seem to
/// have had it alone, and both together to have moved twice what it can.
template <class Work>
[[nodiscard]] double seconds_together(Group& group, const Work& work) {
    group.barrier();
    const double start = now();
    work();
    group.barrier();
    return group.max(now() - start);
}

}  // namespace strata::bench
