// strata-npb-mpi: the suite over the ranks of an MPI run, each with threads by OpenMP.
#include <mpi.h>

#include <climits>
#include <string>
#include <vector>

#include "benchmarks/common/ranks.hpp"
#include "benchmarks/npb/common/benchmark.hpp"
#include "benchmarks/npb/common/openmp_group.hpp"
#include "core/base/error.hpp"

namespace {

using strata::npb::Shift;

/// A count as MPI 3 takes it.
int count_of(std::size_t bytes) {
    if (bytes > INT_MAX)
        throw strata::Error("a message is longer than MPI's calls take", strata::kFailure)
            .given(std::to_string(bytes) + " bytes")
            .allowed("2 GiB")
            .remedy("more processes");
    return static_cast<int>(bytes);
}

class RankGroup : public strata::npb::OpenMpGroup {
  public:
    RankGroup() : rank_(strata::bench::world_rank()), size_(strata::bench::world_size()) {
        MPI_Comm here = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
        MPI_Comm_size(here, &here_);
        MPI_Comm_free(&here);
    }
    [[nodiscard]] const char* model() const override { return "mpi"; }
    [[nodiscard]] int processes() const override { return size_; }
    [[nodiscard]] int ranks_here() const override { return here_; }
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] std::string library() const override { return strata::bench::mpi_library(); }

    void exchange(std::span<const Shift> shifts) override {
        requests_.clear();
        // Receives first: what arrives early then needs no place of MPI's own. Messages between two processes
        // stay in order, so that the i-th meets the i-th.
        for (const Shift& shift : shifts)
            MPI_Irecv(shift.in.data(), count_of(shift.in.size()), MPI_BYTE, shift.from, 0, MPI_COMM_WORLD,
                      &requests_.emplace_back());
        for (const Shift& shift : shifts)
            MPI_Isend(shift.out.data(), count_of(shift.out.size()), MPI_BYTE, shift.to, 0, MPI_COMM_WORLD,
                      &requests_.emplace_back());
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }
    void sum(std::span<double> values) override {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    [[nodiscard]] double max(double value) override {
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return value;
    }
    void gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
        MPI_Allgather(mine.data(), count_of(mine.size()), MPI_BYTE, all.data(), count_of(mine.size()),
                      MPI_BYTE, MPI_COMM_WORLD);
    }
    void meet() override { MPI_Barrier(MPI_COMM_WORLD); }
    void abandon(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

  private:
    int rank_, size_, here_ = 1;
    std::vector<MPI_Request> requests_;
};

}  // namespace

int main(int argc, char** argv) {
    const strata::bench::MpiRun mpi(argc, argv);
    RankGroup group;
    return strata::npb::run_suite(argc, argv, group);
}
