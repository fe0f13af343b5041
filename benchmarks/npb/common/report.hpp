#pragma once

#include <string>

#include "benchmarks/common/result.hpp"
#include "benchmarks/npb/common/benchmark.hpp"
#include "core/launch/layout.hpp"

namespace strata::npb {

/// The document strata.result/1 of a run.
[[nodiscard]] bench::Result result_of(const Benchmark& benchmark, Class size, const Plan& plan,
                                      const Outcome& outcome, const Group& group);

/// What NPB's own programs print at the end, so that scripts that read it work. Without verification it has
/// neither a time nor a rate.
[[nodiscard]] std::string familiar_text(const Benchmark& benchmark, Class size, const Plan& plan,
                                        const Outcome& outcome, const Group& group);

/// The plan in words: size, division, memory by array and in all.
[[nodiscard]] std::string plan_text(const Benchmark& benchmark, Class size, const Plan& plan,
                                    const std::string& model, const launch::Layout& layout);

}  // namespace strata::npb
