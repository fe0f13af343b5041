// The verdict on a run's threads and pages as they were read back, each beside the promise.
#pragma once

#include <string>

#include "core/base/error.hpp"
#include "core/launch/record.hpp"

namespace strata::launch {

/// Enters into the record what was read and whether it agrees with the placement.
void take_readback(Record& record, const Readback& readback);

/// Enters what was read on other nodes. A run agrees with its placement where all its nodes do.
void take_nodes(Record& record, std::vector<NodeReading> nodes);

/// For --explain, a line for each node: threads and pages, as promised or not, and what was found.
std::string verdict_text(const Record& record);

/// The Error of --check for a disagreement.
Error placement_not_kept(const Record& record);

/// Why it is not known whether the placement was kept. `by_srun`: its ranks may run on other nodes only.
std::string why_not_known(const Record& record, bool by_srun = false);

}  // namespace strata::launch
