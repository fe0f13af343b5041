// The stencil: how the cube is dealt over processes, and that its steps are those of the scheme, however it
// is dealt. Processes are threads here, so that what passes between them can be looked at and spoilt.
#include <barrier>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "benchmarks/stencil/blocks.hpp"
#include "benchmarks/stencil/heat.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;
using namespace strata::bench::stencil;

namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Where the swaps of processes that are threads meet.
struct Meeting {
    explicit Meeting(int size) : members(size), met(size) {}
    std::vector<std::span<const Swap>> members;
    std::barrier<> met;
};

class Member : public Group {
  public:
    Member(Meeting& meeting, int rank, bool spoils) : meeting_(meeting), rank_(rank), spoils_(spoils) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return static_cast<int>(meeting_.members.size()); }
    void exchange(std::span<const Swap> swaps) override {
        meeting_.members[static_cast<std::size_t>(rank_)] = swaps;
        meeting_.met.arrive_and_wait();
        for (const Swap& swap : swaps) {
            const Swap* theirs = nullptr;
            for (const Swap& other : meeting_.members[static_cast<std::size_t>(swap.peer)])
                if (other.peer == rank_) theirs = &other;
            if (theirs == nullptr || theirs->out.size() != swap.in.size()) {
                unmatched = true;
                continue;
            }
            std::copy(theirs->out.begin(), theirs->out.end(), swap.in.begin());
            if (spoils_) swap.in.back() += 1e-9;
        }
        meeting_.met.arrive_and_wait();
    }
    bool unmatched = false;

  private:
    Meeting& meeting_;
    int rank_;
    bool spoils_;
};

/// The largest error of all blocks over eps and steps; `spoiler` gets wrong values from its neighbours.
double error_of(int n, const Triple& grid, long steps, int spoiler = -1) {
    const int processes = grid[kZ] * grid[kY] * grid[kX];
    const Mode mode(n, steps);
    Meeting meeting(processes);
    std::vector<double> errors(static_cast<std::size_t>(processes));
    std::vector<std::thread> threads;
    for (int rank = 0; rank < processes; ++rank) {
        threads.emplace_back([&, rank] {
            Member member(meeting, rank, rank == spoiler);
            Field field(block_of(n, grid, rank), mode);
            field.advance(member, steps / 2);
            field.advance(member, steps - steps / 2);
            errors[static_cast<std::size_t>(rank)] =
                member.unmatched ? std::numeric_limits<double>::infinity() : field.error(steps);
        });
    }
    for (std::thread& thread : threads) thread.join();
    return *std::max_element(errors.begin(), errors.end()) / (kEps * static_cast<double>(steps));
}

}  // namespace

TEST_CASE("a grid has all processes and as few cuts through the cube as their number allows") {
    CHECK(best_grid(1) == Triple{1, 1, 1});
    CHECK(best_grid(2) == Triple{2, 1, 1});
    CHECK(best_grid(4) == Triple{2, 2, 1});
    CHECK(best_grid(6) == Triple{3, 2, 1});
    CHECK(best_grid(7) == Triple{7, 1, 1});
    CHECK(best_grid(8) == Triple{2, 2, 2});
    CHECK(best_grid(12) == Triple{3, 2, 2});
    CHECK(best_grid(48) == Triple{4, 4, 3});
    for (int processes = 1; processes <= 300; ++processes) {
        const Triple grid = best_grid(processes);
        CHECK(grid[kZ] * grid[kY] * grid[kX] == processes);
    }
}

TEST_CASE("blocks cover the cube once, and two neighbours name each other") {
    for (const auto& [n, grid] : std::map<int, Triple>{{7, {3, 2, 1}}, {5, {5, 1, 1}}, {10, {2, 3, 4}}}) {
        const int processes = grid[kZ] * grid[kY] * grid[kX];
        std::set<std::array<int, 3>> cells;
        long sum = 0;
        for (int rank = 0; rank < processes; ++rank) {
            const Block block = block_of(n, grid, rank);
            sum += static_cast<long>(block.cells[kZ].count) * block.cells[kY].count * block.cells[kX].count;
            for (int k = 0; k < block.cells[kZ].count; ++k)
                for (int j = 0; j < block.cells[kY].count; ++j)
                    for (int i = 0; i < block.cells[kX].count; ++i)
                        cells.insert({block.cells[kZ].first + k, block.cells[kY].first + j,
                                      block.cells[kX].first + i});
            for (const Direction d : {kZ, kY, kX})
                for (const std::size_t side : {0U, 1U}) {
                    const int other = block.neighbours[d][side];
                    const bool wall = side == 0 ? block.cells[d].first == 0
                                                : block.cells[d].first + block.cells[d].count == n;
                    CHECK((other < 0) == wall);
                    if (other >= 0) CHECK(block_of(n, grid, other).neighbours[d][1 - side] == rank);
                }
        }
        CHECK(sum == static_cast<long>(n) * n * n);
        CHECK(cells.size() == static_cast<std::size_t>(sum));
        CHECK(*cells.rbegin() == std::array{n - 1, n - 1, n - 1});
    }
}

TEST_CASE("the mode is an eigenvector: one step by hand gives its amplification") {
    for (const int n : {1, 2, 3, 10}) {
        const Mode mode(n, 1);
        const auto u = [&](int k, int j, int i) {
            return mode.sine(kZ, k) * mode.sine(kY, j) * mode.sine(kX, i);
        };
        for (int k = 0; k < n; ++k)
            for (int i = 0; i < n; ++i) {
                const double stepped =
                    u(k, 0, i) + mode.ratio() * (u(k - 1, 0, i) + u(k + 1, 0, i) + u(k, -1, i) + u(k, 1, i) +
                                                 u(k, 0, i - 1) + u(k, 0, i + 1) - 6 * u(k, 0, i));
                CHECK(std::abs(stepped - mode.amplification() * u(k, 0, i)) < 8 * kEps);
            }
        CHECK(std::abs(mode.sine(kX, -1)) < 8 * kEps);
        CHECK(std::abs(mode.sine(kX, n)) < 16 * kEps);
    }
}

TEST_CASE("the scheme is stable, and after any number of steps there is something left to verify") {
    for (const int n : {1, 2, 8, 64, 1000})
        for (const long steps : {1L, 10L, 1000L, 1'000'000L}) {
            const Mode mode(n, steps);
            CHECK(mode.ratio() > 0);
            CHECK(mode.ratio() <= 0.125);
            CHECK(mode.after(steps) > 0.0999);
            CHECK(mode.after(steps) < 1);
        }
}

TEST_CASE("the field is right however it is dealt over processes, also in slabs of one cell") {
    CHECK(error_of(1, {1, 1, 1}, 3) < 8);
    CHECK(error_of(17, {1, 1, 1}, 9) < 8);
    CHECK(error_of(17, {2, 1, 1}, 9) < 8);
    CHECK(error_of(17, {1, 2, 1}, 9) < 8);
    CHECK(error_of(17, {1, 1, 2}, 9) < 8);
    CHECK(error_of(11, {3, 2, 2}, 8) < 8);
    CHECK(error_of(5, {5, 1, 1}, 8) < 8);
    CHECK(error_of(4, {1, 4, 1}, 5) < 8);
    CHECK(error_of(4, {1, 1, 4}, 5) < 8);
    CHECK(error_of(62, {1, 1, 1}, 4) < 8);  // rows of 64 with their neighbours
}

TEST_CASE("a wrong value in one face, or in one cell, is seen") {
    for (const Triple grid : {Triple{2, 1, 1}, Triple{1, 2, 1}, Triple{1, 1, 2}})
        for (const int spoiler : {0, 1}) CHECK(error_of(17, grid, 9, spoiler) > 1000);
    const Mode mode(9, 4);
    Group alone;
    Field field(block_of(9, {1, 1, 1}, 0), mode);
    field.advance(alone, 4);
    CHECK(field.error(4) < 32 * kEps);
    CHECK(field.error(3) > 0.001);
    field.disturb(1e-12);
    CHECK(field.error(4) > 0.9e-12);
    field.disturb(std::numeric_limits<double>::quiet_NaN());
    CHECK(std::isinf(field.error(4)));
}
