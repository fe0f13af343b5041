#include "core/team/mpi/exact_sum_mpi.hpp"

#include <cstddef>
#include <cstring>
#include <type_traits>

namespace strata::team {
namespace {

static_assert(std::is_trivially_copyable_v<ExactSum>);

/// inout = in + inout. MPI's buffers may lack ExactSum's alignment.
extern "C" void add_exact_sums(void* in, void* inout, int* length, MPI_Datatype*) {
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(inout);
    for (int i = 0; i < *length; ++i, from += sizeof(ExactSum), to += sizeof(ExactSum)) {
        ExactSum theirs, sum;
        std::memcpy(static_cast<void*>(&theirs), from, sizeof theirs);
        std::memcpy(static_cast<void*>(&sum), to, sizeof sum);
        sum.add(theirs);
        std::memcpy(to, &sum, sizeof sum);
    }
}

}  // namespace

MPI_Datatype exact_sum_type() {
    static const MPI_Datatype type = [] {
        MPI_Datatype made = MPI_DATATYPE_NULL;
        MPI_Type_contiguous(static_cast<int>(sizeof(ExactSum)), MPI_BYTE, &made);
        MPI_Type_commit(&made);
        return made;
    }();
    return type;
}

MPI_Op exact_sum_operation() {
    static const MPI_Op operation = [] {
        MPI_Op made = MPI_OP_NULL;
        MPI_Op_create(&add_exact_sums, 1, &made);
        return made;
    }();
    return operation;
}

}  // namespace strata::team
