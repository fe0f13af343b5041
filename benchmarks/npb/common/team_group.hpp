// The group of a team: members share one arena, each has the threads of its crew.
#pragma once

#include <numeric>
#include <vector>

#include "benchmarks/npb/common/group.hpp"
#include "core/team/team.hpp"

namespace strata::npb {

class TeamGroup : public Group {
  public:
    explicit TeamGroup(team::Team& team) : team_(team), crew_(team.crew()) {
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

    [[nodiscard]] team::Team& members() const { return team_; }

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
        mine_ = counts[static_cast<std::size_t>(team_.local_rank())];
        before_ = std::accumulate(counts.begin(), counts.begin() + team_.local_rank(), 0);
        workers_ = std::accumulate(counts.begin(), counts.end(), 0);
        crew_.prepare();
    }

    team::Team& team_;
    team::Crew& crew_;
    int mine_ = 1, before_ = 0, workers_ = 1;
    int threads_ = 1;  // as the layout says
};

}  // namespace strata::npb
