// Cuts through the flow as files.
#pragma once

#include <memory>
#include <vector>

#include "core/run/driver/driver.hpp"
#include "solvers/flow/output/slices.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::flow {

/// The cuts of a case (output.slices). Throws Error with the key's place for a text that says none, a zone or
/// node that the grid has not, and two that would be one file.
[[nodiscard]] std::vector<Slice> case_slices(const Settings& settings, const graph::CaseSchema& keys,
                                             const GridSystem& grid);

/// FOLDER/slice-NAME-STEP.csv of each cut, every output.slice_steps steps (0: never) and at the end of a run:
/// a row for each cell that is cut (or face with the index), in the order of patches: x, y, z, its size,
/// density, velocity, pressure, with output.vortices vorticity and Q criterion, zone, i, j, k from 1. Beside
/// it slice-NAME-STEP.vtp: the cut as polygons (in two dimensions lines), with the same values at points.
[[nodiscard]] std::shared_ptr<graph::Frames> slice_frames(std::shared_ptr<const Flow> flow,
                                                          const Settings& settings);

}  // namespace strata::flow
