// GETMEM, FORKIT and BARRIER of NASA Ames' MLPlib, for codes that were written for it (Ciotti, Taft,
// Petersohn, "Early Experiences with the 512 Processor Single System Image Origin2000", 2000, section 5.3.4).
// The entry points for Fortran are in mlplib.cpp, for both sizes of integers. An error ends the process with
// one message: the routines have no argument for it.
#pragma once

#include <cstdint>

#include "core/team/mlp/include/strata/mlp.h"

extern "C" {

/// Shared memory, zeroed, at one address in all members: the next array of this process. Before
/// strata_forkit() the forked members inherit it. After it, the i-th call of each member gives the same
/// array, and all members must ask for the same size.
MLP_API void* strata_getmem(std::int64_t bytes);

/// Forks `members` members and returns the number of this one, from 0 (from STRATA_FORKIT_FIRST where that is
/// set). The calling process becomes the parent, which only watches the members and ends with the status of
/// the first to fail. It does not return from here.
MLP_API int strata_forkit(std::int64_t members);

/// Waits until `members` of the members have arrived: all of the team, or any of that number.
MLP_API void strata_gather(std::int64_t members);
}
