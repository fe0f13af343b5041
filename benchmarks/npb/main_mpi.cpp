// strata-npb-mpi: the suite over the ranks of an MPI run, each with threads by OpenMP.
#include <mpi.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <string>
#include <vector>

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
    RankGroup() {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
        MPI_Comm_size(MPI_COMM_WORLD, &size_);
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
    [[nodiscard]] std::string library() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
        int length = 0;
        MPI_Get_library_version(text, &length);
        const std::string version(text, static_cast<std::size_t>(length));
        return version.substr(0, version.find_first_of(",\n"));
    }

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
    int rank_ = 0, size_ = 1, here_ = 1;
    std::vector<MPI_Request> requests_;
};

/// A rank must not outlive what started it, even when that was killed without a chance to say so.
void end_with_parent() {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) raise(SIGKILL);  // it died before the call above
}

}  // namespace

int main(int argc, char** argv) {
    end_with_parent();
    // A rank of one thread says so: messages are cheaper then.
    const int level = strata::bench::thread_count() > 1 ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE;
    int provided = 0;
    MPI_Init_thread(&argc, &argv, level, &provided);
    int status = 0;
    {
        RankGroup group;
        status = strata::npb::run_suite(argc, argv, group);
    }
    MPI_Finalize();
    return status;
}
