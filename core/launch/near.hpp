// Threads near a device: the order of slots by the distance of their memory from it.
#pragma once

#include <string>
#include <vector>

#include "core/launch/placement.hpp"

namespace strata::launch {

/// Spots in the order in which threads should take them so that process p (of wish.layout.processes) is as
/// near as can be to its device: p modulo the devices that `wish.near` ("gpu", "nic", "gpu:NAME", "nic:NAME")
/// names. Every stride-th slot of the result is a thread's; all slots are in it. Throws Error when no such
/// device is there or its place is not known.
std::vector<Slot> nearest_first(const machine::Machine& machine, const Wish& wish,
                                const std::vector<Slot>& slots, std::vector<std::string>& why);

/// The relative distance from domain to domain, by the firmware's table of their memories; 10 for the same
/// and 20 for another where there is none.
double distance(const machine::Machine& machine, int from_domain, int to_domain);

}  // namespace strata::launch
