// A placement written down line by line, in the spirit of dplace's files and MPI's rankfiles.
#pragma once

#include <string>

#include "core/launch/placement.hpp"

namespace strata::launch {

/// Reads wish.file (docs/launch.md has the form):
///
///     # process N [thread N]   where              memory
///     process 0 thread 0-3     core 0-3           memory 0
///     process 1                numa 1             memory interleave 0-1
///
/// N is a number, a range or *; where: pu, core, cache, numa or package with a LIST. PUs and memories have
/// the system's numbers, all others hwloc's; core os:LIST has the system's as well. As many objects as
/// threads are dealt one each, one object holds them all. The layout comes from the file when none was asked.
/// Throws Error with file and line for an unknown object, process or thread, for one named twice, and for one
/// left out.
Placement place_from_file(const machine::Machine& machine, const Wish& wish);

}  // namespace strata::launch
