// The state in PLOT3D's form, at the nodes of the zones that the grid has in its own file.
#pragma once

#include <memory>

#include "core/run/driver/driver.hpp"
#include "solvers/flow/tasks.hpp"

namespace strata::flow {

/// FOLDER/grid.xyz and FOLDER/STEP.q, unformatted, in double precision, every output.plot3d steps. Where
/// grids move, grid.xyz has their first places, and FOLDER/STEP.xyz those of each STEP.q.
[[nodiscard]] std::shared_ptr<graph::Frames> plot3d_frames(std::shared_ptr<const Flow> flow,
                                                           const Settings& settings);

}  // namespace strata::flow
