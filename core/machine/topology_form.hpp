// The parts of a Machine that hwloc finds, as bytes. Only what reads them (topology_cache) knows whether they
// are to be believed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// Processor model, packages, domains, memories (without what is free at the moment), distances, caches,
/// cores (without their clocks) and kinds of cores, in a few kB: 512 PUs in 256 domains take about 90 kB, of
/// which 64 kB are distances.
[[nodiscard]] std::string encode_topology(const Machine& machine);

/// Puts what encode_topology() wrote into `machine`, whose other parts stay as they are. False, and `machine`
/// untouched, where the bytes are no such thing; any bytes may be given.
[[nodiscard]] bool decode_topology(std::string_view bytes, Machine& machine);

/// 64 bits that differ for any two texts that differ within one aligned word of 8 bytes, and for others with
/// near certainty. Against damage, not against malice.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

}  // namespace strata::machine
