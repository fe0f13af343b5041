#include "benchmarks/common/rank_messages.hpp"

#include <climits>
#include <string>

#include "core/base/error.hpp"

namespace strata::bench {
namespace {

/// A tag of their own, so that these messages never meet those of other parts of a benchmark.
constexpr int kTag = 1;

/// A count as MPI 3 takes it.
int count_of(std::size_t count) {
    if (count > INT_MAX)
        throw Error("a message is longer than MPI's calls take", kFailure)
            .given(std::to_string(count) + " elements")
            .allowed(std::to_string(INT_MAX))
            .remedy("more processes");
    return static_cast<int>(count);
}

}  // namespace

std::uint32_t RankMessages::place() {
    if (free_.empty()) {
        requests_.push_back(MPI_REQUEST_NULL);
        return static_cast<std::uint32_t>(requests_.size() - 1);
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    return place;
}

Message RankMessages::begin_send(int to, std::span<const double> data) {
    const std::uint32_t at = place();
    MPI_Isend(data.data(), count_of(data.size()), MPI_DOUBLE, to, kTag, MPI_COMM_WORLD, &requests_[at]);
    return {to, true, at};
}

Message RankMessages::begin_receive(int from, std::span<double> data) {
    const std::uint32_t at = place();
    MPI_Irecv(data.data(), count_of(data.size()), MPI_DOUBLE, from, kTag, MPI_COMM_WORLD, &requests_[at]);
    return {from, false, at};
}

bool RankMessages::done(const Message& message) {
    int flag = 0;
    MPI_Test(&requests_[message.number], &flag, MPI_STATUS_IGNORE);
    if (flag != 0) free_.push_back(message.number);
    return flag != 0;
}

void RankMessages::finish(const Message& message) {
    MPI_Wait(&requests_[message.number], MPI_STATUS_IGNORE);
    free_.push_back(message.number);
}

}  // namespace strata::bench
