#pragma once

#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// This system's GPUs, network cards and disks, each with its nearest domain, from /sys. hwloc could say it
/// too, but reads 256 bytes of every PCI device's configuration on the way, a millisecond each in a guest
/// (measured), and loads the libraries of each kind of GPU. `machine` has its domains and memories already;
/// `root` is put before /sys and /proc.
[[nodiscard]] std::vector<Device> read_devices(const Machine& machine, const std::string& root = "");

}  // namespace strata::machine
