// High-Performance Linpack: its parts, and the whole over processes that are threads here.
#ifdef _OPENMP
#include <omp.h>
#endif

#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <limits>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "benchmarks/common/blas.hpp"
#include "benchmarks/common/group.hpp"
#include "benchmarks/hpcc/hpl/back_substitution.hpp"
#include "benchmarks/hpcc/hpl/broadcast.hpp"
#include "benchmarks/hpcc/hpl/cyclic.hpp"
#include "benchmarks/hpcc/hpl/equations.hpp"
#include "benchmarks/hpcc/hpl/factorization.hpp"
#include "benchmarks/hpcc/hpl/panel.hpp"
#include "benchmarks/hpcc/hpl/row_moves.hpp"
#include "benchmarks/hpcc/hpl/size.hpp"
#include "benchmarks/team/channels.hpp"
#include "core/base/error.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;
using namespace strata::bench::hpcc::linpack;
using team_layer::Channel;
using team_layer::ChannelMessages;

namespace {

/// What processes that are threads share.
struct Common {
    explicit Common(int count)
        : channels(static_cast<std::size_t>(count) * static_cast<std::size_t>(count)),
          meeting(count),
          values(static_cast<std::size_t>(count)) {}
    std::vector<Channel> channels;
    std::barrier<> meeting;
    std::vector<std::span<double>> values;
};

class ThreadGroup : public Group {
  public:
    ThreadGroup(Common& common, int rank, int size)
        : common_(common),
          rank_(rank),
          size_(size),
          messages_(common.channels, rank, size, strata::team::Patience::crowded(nullptr),
                    [this](std::size_t count) { return std::span(memory_.emplace_back(count)); }) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int size() const override { return size_; }
    [[nodiscard]] Messages& messages() override { return messages_; }
    void sum(std::span<double> mine) override {
        common_.values[static_cast<std::size_t>(rank_)] = mine;
        common_.meeting.arrive_and_wait();
        std::vector<double> all(mine.size());
        for (const std::span<double> theirs : common_.values)
            for (std::size_t i = 0; i < all.size(); ++i) all[i] += theirs[i];
        common_.meeting.arrive_and_wait();
        std::copy(all.begin(), all.end(), mine.begin());
        common_.meeting.arrive_and_wait();
    }

  private:
    Common& common_;
    int rank_, size_;
    std::list<std::vector<double>> memory_;
    ChannelMessages messages_;
};

/// work(group) in so many processes, each with so many threads.
template <class Work>
void in_processes(int count, int threads, Work work) {
    Common common(count);
    std::vector<std::jthread> running;
    for (int rank = 0; rank < count; ++rank)
        running.emplace_back([&, rank] {
#ifdef _OPENMP
            omp_set_num_threads(threads);
#else
            (void)threads;
#endif
            ThreadGroup group(common, rank, count);
            work(group);
            common.meeting.arrive_and_wait();  // others may still read from this one's memory
        });
}

const Blas* any_blas() {
    static const std::unique_ptr<Blas> found = []() -> std::unique_ptr<Blas> {
        for (const BlasChoice& choice : blas_candidates()) {
            try {
                return std::make_unique<Blas>(choice);
            } catch (const strata::Error&) {
            }
        }
        return nullptr;
    }();
    return found.get();
}

/// [A b] in one piece, eliminated by the textbook's three loops with partial pivoting.
struct Textbook {
    explicit Textbook(long order) : n(order), a(static_cast<std::size_t>(n * (n + 1))) {
        for (long i = 0; i < n; ++i)
            for (long j = 0; j <= n; ++j) at(i, j) = element(i, j == n ? kRightSide : j);
    }
    double& at(long i, long j) { return a[static_cast<std::size_t>(i * (n + 1) + j)]; }
    void eliminate(long columns) {
        for (long k = 0; k < columns; ++k) {
            long pivot = k;
            for (long i = k + 1; i < n; ++i)
                if (std::fabs(at(i, k)) > std::fabs(at(pivot, k))) pivot = i;
            pivots.push_back(pivot);
            for (long j = 0; j <= n; ++j) std::swap(at(k, j), at(pivot, j));
            for (long i = k + 1; i < n; ++i) {
                at(i, k) /= at(k, k);
                for (long j = k + 1; j <= n; ++j) at(i, j) -= at(i, k) * at(k, j);
            }
        }
    }
    std::vector<double> solution() {
        eliminate(n);
        std::vector<double> x(static_cast<std::size_t>(n));
        for (long i = n - 1; i >= 0; --i) {
            double sum = at(i, n);
            for (long j = i + 1; j < n; ++j) sum -= at(i, j) * x[static_cast<std::size_t>(j)];
            x[static_cast<std::size_t>(i)] = sum / at(i, i);
        }
        return x;
    }
    long n;
    std::vector<double> a;
    std::vector<long> pivots;
};

std::vector<double> solved(Group& group, const Blas& blas, const Shape& shape) {
    Equations equations(shape);
    Factorization factorization(blas, equations, group.messages());
    Progress progress("");
    factorization.run(progress);
    std::vector<double> x = back_substitution(equations, group.messages());
    group.sum(std::span<double>(x));
    return x;
}

}  // namespace

TEST_CASE("every row of a block-cyclic matrix has one owner, and a place there") {
    for (const auto& [n, block, parts] :
         {std::tuple{1L, 1L, 1}, {10L, 3L, 1}, {10L, 3L, 2}, {100L, 7L, 4}, {64L, 8L, 8}, {5L, 8L, 3}}) {
        std::vector<long> next(static_cast<std::size_t>(parts));
        for (long i = 0; i < n; ++i) {
            const int owner = Cyclic{block, parts, 0}.owner(i);
            CHECK(owner == i / block % parts);
            for (int p = 0; p < parts; ++p)
                CHECK(Cyclic{block, parts, p}.before(i) == next[static_cast<std::size_t>(p)]);
            const Cyclic mine{block, parts, owner};
            CHECK(mine.local(i) == next[static_cast<std::size_t>(owner)]++);
            CHECK(mine.global(mine.local(i)) == i);
        }
        for (int p = 0; p < parts; ++p)
            CHECK(Cyclic{block, parts, p}.before(n) == next[static_cast<std::size_t>(p)]);
    }
}

TEST_CASE("the moves of rows come to the same as the interchanges one by one") {
    const std::vector<std::vector<double>> some = {{4, 5, 6}, {9, 9, 9},   {6, 6, 6}, {11, 5, 11},
                                                   {5, 9, 9}, {6, 11, 11}, {6, 12, 8}};
    for (const std::vector<double>& pivots : some) {
        std::vector<long> rows(14), moved;
        std::iota(rows.begin(), rows.end(), 0);
        moved = rows;
        for (std::size_t j = 0; j < pivots.size(); ++j)
            std::swap(rows[4 + j], rows[static_cast<std::size_t>(pivots[j])]);
        const RowMoves moves = row_moves(4, pivots);
        for (std::size_t j = 0; j < pivots.size(); ++j) moved[4 + j] = moves.in[j];
        for (const RowMoves::Out& out : moves.out) {
            CHECK(out.to >= 7);
            CHECK((out.from >= 4 && out.from < 7));
            moved[static_cast<std::size_t>(out.to)] = out.from;
        }
        CHECK(moved == rows);
    }
}

TEST_CASE("tiles have every column once, and none are left") {
    for (const long end : {0L, 1L, 191L, 192L, 200L, 5000L, 20001L}) {
        Tiles tiles(3, 3 + end, 2);
        long at = 3;
        for (Tiles::Tile tile = tiles.take(); !tile.empty(); tile = tiles.take()) {
            CHECK(tile.begin == at);
            CHECK(tile.end > tile.begin);
            at = tile.end;
        }
        CHECK(at == 3 + end);
    }
}

TEST_CASE("a panel over several processes has the textbook's pivots, L and U") {
    const Blas* blas = any_blas();
    if (blas == nullptr) CANNOT_TRY("there is no BLAS here");
    constexpr long n = 61, block = 19;
    Textbook textbook(n);
    textbook.eliminate(block);
    for (const int count : {1, 2, 3, 5}) {
        std::atomic<int> others{0};
        in_processes(count, 1, [&](Group& group) {
            const Shape shape{n, block, Grid::of(count, 1, group.rank())};
            const Equations equations(shape);
            Panel panel(group.messages().memory(Panel::words(block, shape.own_rows())));
            panel.place(0, block, n, shape.rows());
            for (long r = 0; r < panel.height(); ++r) std::copy_n(equations.row(r), block, panel.row(r));
            PanelFactorization(*blas, shape.grid, group.messages(), block, shape.own_rows()).factor(panel);
            bool same = true;  // Catch2's checks are for one thread
            for (long j = 0; j < block; ++j) {
                same &= panel.pivots()[static_cast<std::size_t>(j)] ==
                        static_cast<double>(textbook.pivots[static_cast<std::size_t>(j)]);
                for (long i = 0; i < block; ++i)
                    same &= std::fabs(panel.top(i)[j] - textbook.at(i, j)) < 1e-12;
            }
            for (long r = panel.active(block); r < panel.height(); ++r)
                for (long j = 0; j < block; ++j)
                    same &= std::fabs(panel.row(r)[j] - textbook.at(shape.rows().global(r), j)) < 1e-12;
            if (!same) others.fetch_add(1);
        });
        CHECK(others == 0);
    }
}

TEST_CASE("a column without any element but zeros is no reason to divide by it") {
    const Blas* blas = any_blas();
    if (blas == nullptr) CANNOT_TRY("there is no BLAS here");
    Messages alone;
    constexpr long n = 6, block = 3;
    Panel panel(alone.memory(Panel::words(block, n)));
    panel.place(0, block, n, {block, 1, 0});
    for (long r = 0; r < n; ++r) panel.row(r)[2] = static_cast<double>(r + 1);
    PanelFactorization(*blas, {}, alone, block, n).factor(panel);
    CHECK(panel.top(0)[0] == 0);
    CHECK(panel.top(2)[2] == 6);
    for (long r = block; r < n; ++r) CHECK(std::isfinite(panel.row(r)[2]));
}

TEST_CASE("a panel goes once to all processes of a row, whoever has it") {
    for (const int count : {2, 3, 4, 6}) {
        std::vector<int> wrong(static_cast<std::size_t>(count));
        in_processes(count, 1, [&](Group& group) {
            PanelBroadcast broadcast(Grid::of(1, count, group.rank()), group.messages());
            const std::array memory = {group.messages().memory(50), group.messages().memory(50)};
            for (int round = 0; round < 20; ++round) {
                const int owner = round % count, slot = round % 2;
                const std::span<double> message = memory[static_cast<std::size_t>(slot)];
                broadcast.free(slot);
                if (owner == group.rank()) std::fill(message.begin(), message.end(), round + 0.5);
                broadcast.begin(slot, message, owner);
                if (round % 3 == 0) broadcast.poll();
                broadcast.arrive();
                for (const double value : message)
                    wrong[static_cast<std::size_t>(group.rank())] += value != round + 0.5;
            }
            broadcast.free(0);
            broadcast.free(1);
        });
        CHECK(wrong == std::vector<int>(static_cast<std::size_t>(count)));
    }
}

TEST_CASE("every grid, with threads or without, has the textbook's solution") {
    const Blas* blas = any_blas();
    if (blas == nullptr) CANNOT_TRY("there is no BLAS here");
    for (const auto& [n, block] : {std::pair{96L, 8L}, {97L, 12L}, {50L, 64L}, {500L, 16L}}) {
        const std::vector<double> expected = Textbook(n).solution();
        for (const auto& [rows, columns, threads] : {std::tuple{1, 1, 1},
                                                     {1, 1, 2},
                                                     {1, 2, 1},
                                                     {2, 1, 1},
                                                     {2, 1, 2},
                                                     {2, 2, 2},
                                                     {3, 2, 1},
                                                     {1, 5, 1},
                                                     {4, 1, 1}}) {
            std::vector<double> x;
            double residual = 0;
            in_processes(rows * columns, threads,
                         [&, rows = rows, columns = columns, n = n, block = block](Group& group) {
                             const Shape shape{n, block, Grid::of(rows, columns, group.rank())};
                             std::vector<double> mine = solved(group, *blas, shape);
                             const double of_mine = scaled_residual(group, shape, mine);
                             if (group.rank() != group.size() - 1) return;
                             x = std::move(mine);
                             residual = of_mine;
                         });
            INFO(n << " by " << block << " on " << rows << " x " << columns << " x " << threads);
            CHECK(residual < 1);
            REQUIRE(x.size() == expected.size());
            double distance = 0, size = 0;
            for (std::size_t i = 0; i < x.size(); ++i) {
                distance = std::max(distance, std::fabs(x[i] - expected[i]));
                size = std::max(size, std::fabs(expected[i]));
            }
            CHECK(distance < 1e-9 * size);
        }
    }
}

TEST_CASE("a solution with one value wrong, or not a number, is no solution") {
    Group alone;
    const Shape shape{80, 16, {}};
    std::vector<double> x = Textbook(shape.n).solution();
    CHECK(scaled_residual(alone, shape, x) < 1);
    const double right = x[40];
    x[40] += 1e-9 * std::fabs(right);
    CHECK(scaled_residual(alone, shape, x) > 16);
    x[40] = std::numeric_limits<double>::quiet_NaN();
    CHECK(scaled_residual(alone, shape, x) > 16);
}

TEST_CASE("a solution of all equations but one is no solution") {
    Group alone;
    const Shape shape{80, 16, {}};
    for (const long wrong : {0L, 40L, 79L}) {
        Textbook system(shape.n);
        system.at(wrong, shape.n) += 1e-9;
        CHECK(scaled_residual(alone, shape, system.solution()) > 16);
    }
}

TEST_CASE("the largest order fits, and takes four fifths of much memory") {
    for (const double gigabytes : {0.01, 0.1, 1.0, 200.0})
        for (const auto& [rows, columns] : {std::pair{1, 1}, {1, 3}, {4, 4}}) {
            Shape shape{1, 256, {rows, columns, 0, 0}};
            const double available = 1e9 * gigabytes;
            shape.n = full_order(shape, available);
            CHECK(shape.n % shape.block == 0);
            CHECK(most_bytes_of(shape) <= kMostOfMemory * available);
            const double n = static_cast<double>(shape.n), share = 8 * n * n / (rows * columns * available);
            CHECK(share <= kShareOfMemory);
            if (gigabytes >= 1) CHECK(share > kShareOfMemory - 0.1);
        }
}

TEST_CASE("messages through shared memory stay in order, also more than may be open") {
    constexpr int count = 100;
    int wrong = 0;
    in_processes(2, 1, [&](Group& group) {
        Messages& messages = group.messages();
        const std::span<double> memory = messages.memory(count);
        if (group.rank() == 0) {
            std::iota(memory.begin(), memory.end(), 0.0);
            std::vector<Message> going;
            for (int i = 0; i < count; ++i)
                going.push_back(messages.begin_send(1, memory.subspan(static_cast<std::size_t>(i), 1)));
            for (const Message& message : going) messages.finish(message);
        } else {
            for (int i = 0; i < count; ++i) {
                const Message message =
                    messages.begin_receive(0, memory.subspan(static_cast<std::size_t>(i), 1));
                if (i % 2 == 0) {
                    while (!messages.done(message)) std::this_thread::yield();
                } else {
                    messages.finish(message);
                }
            }
            for (int i = 0; i < count; ++i) wrong += memory[static_cast<std::size_t>(i)] != i;
        }
    });
    CHECK(wrong == 0);
}
