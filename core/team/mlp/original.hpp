// GETMEM, FORKIT and BARRIER of NASA Ames' MLPlib, for codes that were written for it (Ciotti, Taft,
// Petersohn, "Early Experiences with the 512 Processor Single System Image Origin2000", 2000, section 5.3.4).
// The entry points that Fortran calls are in mlplib.cpp, for both sizes of integers. What fails ends the
// process with one message: the routines have no argument to say it.
#pragma once

#include <cstdint>

#include "core/team/mlp/include/strata/mlp.h"

extern "C" {

/// Shared memory, zeroed, at one address in all members: the next array of this process. Before
/// strata_forkit() the forked members inherit it; after it, the i-th call of each member gives the same
/// array, and must ask for as much.
MLP_API void* strata_getmem(std::int64_t bytes);

/// Forks `members` members and returns the number of this one, from 0 (from STRATA_FORKIT_FIRST where that is
/// set). The process that called it becomes the parent that only looks after them, ends with the status of
/// the first to fail, and does not return from here.
MLP_API int strata_forkit(std::int64_t members);

/// Waits until `members` of the members have come: all of the team, or any so many.
MLP_API void strata_gather(std::int64_t members);
}
