// Before a run goes on from a checkpoint: whether the case is the checkpoint's, and whether anything is left
// to do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "core/run/case/case.hpp"
#include "core/run/checkpoint/reader.hpp"
#include "core/run/checkpoint/state.hpp"
#include "core/run/driver/driver.hpp"

namespace strata::graph {

/// What a checkpoint of the case says of it.
[[nodiscard]] StateName state_name(const CaseSchema& schema);

/// Throws Error where a checkpoint is of another solver, or of a case that differs in keys that a restart may
/// not change.
void expect_case(const CaseSchema& schema, const CheckpointReader& checkpoint);

/// A line for a restart that has nothing to do: the checkpoint is the case's end, or lies after the last step
/// that was asked for (`steps`). "" where steps are left. `out`: the run's folder, if it has one.
[[nodiscard]] std::string nothing_left(const CaseSchema& schema, const Solver& solver,
                                       const CheckpointReader& checkpoint, std::optional<std::int64_t> steps,
                                       const std::optional<std::filesystem::path>& out);

}  // namespace strata::graph
