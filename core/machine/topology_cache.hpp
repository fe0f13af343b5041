// What hwloc found of this machine, kept in a file from one start to the next: hwloc's discovery costs
// milliseconds here and tens of them on hundreds of cores, reading the file a fraction of one.
//
// The file is believed only where its key, compared whole, is the key of this moment, and its checksum is
// right. There is one file for each host below ${XDG_CACHE_HOME:-~/.cache}/strata, ours and writable by
// nobody else. Where that cannot be had there is no cache, and nothing is said of it.
#pragma once

#include <string>

#include "core/machine/machine.hpp"

namespace strata::machine {

/// What must not have changed for a topology to hold: boot, kernel, host, processors and memories as the
/// system lists them, hwloc's version and the variables that steer it, and the code that understood hwloc.
/// Empty where that cannot be told, or where the environment may describe another machine to hwloc. `root` is
/// put before /proc and /sys.
[[nodiscard]] std::string topology_key(const std::string& root = "");

/// The cache's file for this host; empty where the environment names no home.
[[nodiscard]] std::string topology_cache_file(const std::string& root = "");

/// Fills in what read_topology() found when the file was written. False, and `machine` untouched, where the
/// file is not there, not ours, writable by others, damaged or of another key.
[[nodiscard]] bool load_topology_cache(const std::string& file, const std::string& key, Machine& machine);

/// Leaves the topology for the next start; whether it did. At any moment the file is whole, the old one or
/// the new one, also when several processes write at once or one is killed. Only the last folder and the one
/// above it are made, and only in a folder of this user's own.
bool store_topology_cache(const std::string& file, const std::string& key, const Machine& machine);

/// This system's topology, from the cache where it may be believed (unless `afresh`), else from hwloc and
/// then left in the cache. Throws what read_topology() throws.
void read_topology_cached(Machine& machine, bool afresh = false);

}  // namespace strata::machine
