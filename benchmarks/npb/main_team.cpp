// strata-npb-team: the suite over processes that share one arena, each with the threads of its crew.
#include <numeric>
#include <vector>

#include "benchmarks/npb/common/benchmark.hpp"
#include "core/base/error.hpp"
#include "core/team/team.hpp"

namespace {

using strata::npb::Group;

class TeamGroup : public Group {
  public:
    explicit TeamGroup(strata::team::Team& team) : team_(team), crew_(team.crew()) {
        take_counts();
        threads_ = mine_;
    }
    [[nodiscard]] const char* model() const override { return "team"; }
    [[nodiscard]] int processes() const override { return team_.size(); }
    [[nodiscard]] int threads() const override { return threads_; }
    [[nodiscard]] bool moves_threads() const override { return true; }
    void set_counts(std::span<const int> counts) override {
        team_.barrier();
        if (first()) crew_.set_counts(counts);
        team_.barrier();
        take_counts();
    }
    [[nodiscard]] int number() const override { return team_.rank(); }
    [[nodiscard]] int workers() const override { return workers_; }
    void meet() override { team_.barrier(); }
    [[nodiscard]] double max(double value) override {
        return team_.together().reduce(value, [](double a, double b) { return a < b ? b : a; });
    }

  protected:
    void run(Task task, void* held) override {
        if (mine_ == 1) {
            task(held, before_, workers_);
        } else {
            crew_.parallel_region([&](int thread, int threads) {
                // A thread may still be on its way; the parts stay the same.
                for (int t = thread; t < mine_; t += threads) task(held, before_ + t, workers_);
            });
        }
        team_.barrier();
    }
    [[nodiscard]] void* allocate(const std::string& name, std::size_t bytes) override {
        return team_.arena().allocate(name, bytes == 0 ? 1 : bytes);
    }

  private:
    void take_counts() {
        const std::vector<int> counts = crew_.counts();
        mine_ = counts[static_cast<std::size_t>(team_.rank())];
        before_ = std::accumulate(counts.begin(), counts.begin() + team_.rank(), 0);
        workers_ = std::accumulate(counts.begin(), counts.end(), 0);
        crew_.prepare();
    }

    strata::team::Team& team_;
    strata::team::Crew& crew_;
    int mine_ = 1, before_ = 0, workers_ = 1;
    int threads_ = 1;  // as the layout says
};

}  // namespace

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        if (team.nodes() > 1)
            throw strata::Error("a team of this suite shares one memory")
                .given("members on several nodes")
                .remedy("--model mpi runs over nodes");
        TeamGroup group(team);
        return strata::npb::run_suite(argc, argv, group);
    });
}
