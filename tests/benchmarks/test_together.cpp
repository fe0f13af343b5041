// How long processes take together, also where they do not run at the same time.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <thread>

#include "benchmarks/common/together.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;

namespace {

constexpr auto kTurn = std::chrono::milliseconds(30);

struct Meeting {
    std::barrier<> met{2};
    std::atomic<bool> first_is_done = false;
    std::array<double, 2> values{};
};

/// One of two processes that take turns on a core: the second gets it only when the first has done its part.
class Sharing : public Group {
  public:
    Sharing(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return 2; }
    void barrier() override {
        if (rank_ == 0 && entered_) meeting_.first_is_done = true;
        meeting_.met.arrive_and_wait();
        if (rank_ == 1 && !entered_) {
            while (!meeting_.first_is_done) std::this_thread::yield();
            std::this_thread::sleep_for(kTurn);
        }
        entered_ = true;
    }
    [[nodiscard]] double max(double value) override {
        if (rank_ == 0) meeting_.first_is_done = true;
        meeting_.values[static_cast<std::size_t>(rank_)] = value;
        meeting_.met.arrive_and_wait();
        return std::max(meeting_.values[0], meeting_.values[1]);
    }

  private:
    Meeting& meeting_;
    int rank_;
    bool entered_ = false;
};

}  // namespace

TEST_CASE("processes that take turns on a core have not done their work at the same time") {
    Meeting meeting;
    std::array<double, 2> seconds{};
    const auto run = [&](std::size_t rank) {
        Sharing group(meeting, static_cast<int>(rank));
        seconds[rank] = seconds_together(group, [] {});
    };
    std::thread other(run, 1);
    run(0);
    other.join();
    CHECK(seconds[0] >= std::chrono::duration<double>(kTurn).count());
    CHECK(seconds[1] == seconds[0]);
}

TEST_CASE("one process alone takes what its work takes") {
    Group alone;
    CHECK(seconds_together(alone, [] { std::this_thread::sleep_for(kTurn); }) >= 0.03);
}
