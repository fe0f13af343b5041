#include "benchmarks/integrity/trace.hpp"

#include <algorithm>

namespace strata::integrity {

Mismatch difference(const Trace& expected, const Trace& obtained) {
    if (obtained.wrong() > 0) return obtained.mismatch();
    for (std::uint32_t i = 0; i < Trace::kSteps; ++i)
        if (expected.step(i) != obtained.step(i))
            return {static_cast<int>(i), expected.step(i), obtained.step(i), -1};
    if (expected.steps() != obtained.steps()) return {-1, expected.steps(), obtained.steps(), -1};
    return {-1, expected.work(), obtained.work(), -1};
}

}  // namespace strata::integrity
