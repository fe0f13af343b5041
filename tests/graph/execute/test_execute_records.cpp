// What the executor says of where the time went.
#include <chrono>

#include "core/graph/execute/shared.hpp"
#include "tests/catch.hpp"
#include "tests/graph/execute/execute_net.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;
using Kind = Block::Kind;

namespace {

double monotonic() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

}  // namespace

TEST_CASE("each operation is recorded with its step and its time on the system's clock") {
    Net net;
    const int ops = net.block(Kind::ops);
    std::vector<std::pair<double, double>> seen;
    for (int i = 0; i < 3; ++i)
        net.op(ops, 0, 0, [&](Worker&) {
            const double begin = monotonic();
            pause_ms(2);
            seen.emplace_back(begin, monotonic());
            return Outcome::done;
        });
    Program program = net.program(0);
    ExecutorOptions options = crowded();
    options.records = 16;
    Executor executor(program, options);
    static_cast<void>(executor.run(2));
    const std::vector<Record> records = executor.records(0);
    REQUIRE(records.size() == 6);
    constexpr double tolerance = 5e-4;  // of two clocks beside each other for some milliseconds
    for (std::size_t i = 0; i < 6; ++i) {
        CHECK(records[i].op == i % 3);
        CHECK(records[i].step == 1 + i / 3);
        CHECK(records[i].begin <= seen[i].first + tolerance);
        CHECK(records[i].end >= seen[i].second - tolerance);
        if (i % 3 > 0) CHECK(records[i].begin == records[i - 1].end);
    }
}

TEST_CASE("only the last operations are kept, and none where none were asked for") {
    Net net;
    const int ops = net.block(Kind::ops);
    for (int i = 0; i < 5; ++i) net.op(ops, 0, 0, [](Worker&) { return Outcome::done; });
    Program program = net.program(0);
    ExecutorOptions options = crowded();
    SECTION("eight") {
        options.records = 8;
        Executor executor(program, options);
        static_cast<void>(executor.run(4));
        const std::vector<Record> records = executor.records(0);
        REQUIRE(records.size() == 8);
        CHECK(records.back().op == 4);
        CHECK(records.back().step == 4);
        CHECK(records.front().op == 2);
        CHECK(records.front().step == 3);
    }
    SECTION("none") {
        Executor executor(program, options);
        static_cast<void>(executor.run(4));
        CHECK(executor.records(0).empty());
        CHECK(executor.records(7).empty());
    }
}

TEST_CASE("a wait is a record of its own, and counted as waiting") {
    Net net(1, 2);
    const int ops = net.block(Kind::ops);
    const int slow = net.op(ops, 0, 0, [](Worker&) {
        pause_ms(10);
        return Outcome::done;
    });
    const int after = net.op(ops, 0, 1, [](Worker&) { return Outcome::done; });
    net.wait(after, slow);
    // Each is held to its thread by what it speaks or by having no other that could be taken.
    net.speaks_mpi(slow);
    Program program = net.program(0);
    ExecutorOptions options = crowded();
    options.records = 64;
    Executor executor(program, options);
    const Batch batch = executor.run(1);
    double waited = 0, longest = 0;
    for (int thread = 0; thread < 2; ++thread) {
        for (const Record& record : executor.records(thread)) {
            CHECK(record.begin <= record.end);
            if (record.op == Record::kWaiting) longest = std::max(longest, record.end - record.begin);
        }
        const Usage& usage = batch.threads[static_cast<std::size_t>(thread)];
        waited += usage.waiting;
        CHECK(usage.tasks >= 0);
        CHECK(usage.runtime >= 0);
        CHECK(usage.tasks + usage.waiting + usage.runtime <= batch.seconds * 1.01);
    }
    CHECK(longest > 0);
    CHECK(waited >= longest * 0.99);
    CHECK(batch.threads[0].tasks >= 0.0095);
}

TEST_CASE("counts of rounds may go beyond what a word holds") {
    using detail::reached;
    CHECK(reached(5, 5));
    CHECK(reached(6, 5));
    CHECK_FALSE(reached(4, 5));
    CHECK(reached(2, 0xfffffffe));
    CHECK_FALSE(reached(0xfffffffe, 2));
}
