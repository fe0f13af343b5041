// The exact sum as an operation of MPI, for programs that reduce with MPI themselves.
//
//   ExactSum mine, all;
//   mine.add(values);
//   MPI_Allreduce(&mine, &all, 1, exact_sum_type(), exact_sum_operation(), MPI_COMM_WORLD);
//   all.value();   // the same bits for any number of ranks and any order in which MPI combines them
#pragma once

#include <mpi.h>

#include "core/team/exact_sum.hpp"

namespace strata::team {

/// The datatype of one ExactSum as in memory, for machines of one kind. Made on the first call, after
/// MPI_Init; kept to the end.
[[nodiscard]] MPI_Datatype exact_sum_type();
/// The commutative operation that adds them.
[[nodiscard]] MPI_Op exact_sum_operation();

}  // namespace strata::team
