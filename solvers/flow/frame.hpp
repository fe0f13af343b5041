// A frame that turns with a rotor: its keys, and what they mean.
#pragma once

#include "core/run/case/case.hpp"
#include "solvers/flow/settings.hpp"

namespace strata::flow {

void add_frame_keys(graph::CaseSchema& keys, FrameKeys& frame);

/// What no key says alone. Throws Error with the key's place.
void check_frame(const Settings& settings, const graph::CaseSchema& keys);

}  // namespace strata::flow
