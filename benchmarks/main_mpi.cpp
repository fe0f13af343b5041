// strata-bench-mpi: the benchmarks of strata-bench and those that exchange messages, over the ranks of an MPI
// run.
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/common/rank_messages.hpp"
#include "benchmarks/common/ranks.hpp"
#include "benchmarks/elsewhere.hpp"

namespace {

using strata::bench::Group;

class Ranks : public Group {
  public:
    [[nodiscard]] int rank() const override { return strata::bench::world_rank(); }
    [[nodiscard]] int size() const override { return strata::bench::world_size(); }
    void barrier() override { MPI_Barrier(MPI_COMM_WORLD); }
    double max(double value) override { return reduce(value, MPI_MAX); }
    double min(double value) override { return reduce(value, MPI_MIN); }
    double sum(double value) override { return reduce(value, MPI_SUM); }
    double from_first(double value) override {
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        return value;
    }
    void exchange(std::span<const strata::bench::Swap> swaps) override {
        requests_.resize(2 * swaps.size());
        // Receives first: what arrives early then needs no place of MPI's own.
        for (std::size_t i = 0; i < swaps.size(); ++i)
            MPI_Irecv(swaps[i].in.data(), static_cast<int>(swaps[i].in.size()), MPI_DOUBLE, swaps[i].peer, 0,
                      MPI_COMM_WORLD, &requests_[i]);
        for (std::size_t i = 0; i < swaps.size(); ++i)
            MPI_Isend(swaps[i].out.data(), static_cast<int>(swaps[i].out.size()), MPI_DOUBLE, swaps[i].peer,
                      0, MPI_COMM_WORLD, &requests_[swaps.size() + i]);
        MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    }
    void sum(std::span<double> values) override {
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
    }
    [[nodiscard]] strata::bench::Messages& messages() override { return messages_; }
    [[nodiscard]] int here() const override {
        MPI_Comm node = MPI_COMM_NULL;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &node);
        int count = 1;
        MPI_Comm_size(node, &count);
        MPI_Comm_free(&node);
        return count;
    }
    [[nodiscard]] std::optional<std::string> mpi() const override { return strata::bench::mpi_library(); }
    void abandon(int status) override { MPI_Abort(MPI_COMM_WORLD, status); }

  private:
    static double reduce(double value, MPI_Op operation) {
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, operation, MPI_COMM_WORLD);
        return value;
    }
    std::vector<MPI_Request> requests_;
    strata::bench::RankMessages messages_;
};

}  // namespace

int main(int argc, char** argv) {
    const std::array known = {strata::bench::local_benchmarks(), strata::bench::message_benchmarks()};
    if (argc == 2 &&
        std::string(argv[1]) == "--list") {  // planning asks what was built, also where no MPI run may start
        Group alone;
        return strata::bench::run_and_report(argc, argv, alone, known, strata::bench::kOfGraph);
    }
    const strata::bench::MpiRun mpi(argc, argv);
    Ranks ranks;
    return strata::bench::run_and_report(argc, argv, ranks, known, strata::bench::kOfGraph);
}
