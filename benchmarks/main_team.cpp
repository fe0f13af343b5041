// strata-bench-team: the benchmarks that also run over processes that share memory, each with threads by
// OpenMP on its own cores.
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/hpcc/hpcc.hpp"
#include "benchmarks/team/channels.hpp"
#include "core/base/error.hpp"
#include "core/team/team.hpp"

namespace {

using strata::bench::Benchmark;
using strata::bench::Group;
using strata::bench::Messages;
using strata::bench::team_layer::Channel;
using strata::bench::team_layer::ChannelMessages;

class TeamGroup : public Group {
  public:
    explicit TeamGroup(strata::team::Team& team)
        : team_(team),
          messages_(team.arena().array<Channel>("channels", places(team.size()) * places(team.size())),
                    team.rank(), team.size(), team.patience(),
                    [this](std::size_t count) { return memory(count); }) {
        team_.crew().lend_to_openmp();
    }
    [[nodiscard]] int rank() const override { return team_.rank(); }
    [[nodiscard]] int size() const override { return team_.size(); }
    [[nodiscard]] int here() const override { return team_.size(); }
    void barrier() override { team_.barrier(); }
    double max(double value) override {
        return reduce(value, [](double a, double b) { return a < b ? b : a; });
    }
    double min(double value) override {
        return reduce(value, [](double a, double b) { return b < a ? b : a; });
    }
    double sum(double value) override { return reduce(value, std::plus<>()); }
    void sum(std::span<double> values) override { team_.together().reduce(values, std::plus<>()); }
    double from_first(double value) override {
        team_.together().broadcast(std::span<double>(&value, 1), 0);
        return value;
    }
    [[nodiscard]] Messages& messages() override { return messages_; }

  private:
    static std::size_t places(int members) { return static_cast<std::size_t>(members); }
    template <class Combine>
    double reduce(double value, Combine combine) {
        return team_.together().reduce(value, combine);
    }
    std::span<double> memory(std::size_t count) {
        const std::string name = "messages " + std::to_string(team_.rank()) + "." + std::to_string(made_++);
        return team_.arena().array<double>(name, std::max<std::size_t>(1, count)).first(count);
    }

    strata::team::Team& team_;
    int made_ = 0;
    ChannelMessages messages_;
};

}  // namespace

int main(int argc, char** argv) {
    static const std::array list = {strata::bench::hpcc::hpl};
    const std::array known = {std::span<const Benchmark>(list)};
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        if (team.nodes() > 1)
            throw strata::Error("a team of these benchmarks shares one memory")
                .given("members on several nodes")
                .remedy("--model mpi runs over nodes");
        TeamGroup group(team);
        return strata::bench::run_named(argc, argv, group, known);
    });
}
