// The executor's promises one by one, on programs small enough to see through.
#include <algorithm>
#include <array>
#include <mutex>
#include <set>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/execute/execute_net.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;
using Kind = Block::Kind;

namespace {

/// Appends to a list that all operations share.
struct Log {
    Body add(int what) {
        return [this, what](Worker&) {
            const std::lock_guard lock(mutex);
            order.push_back(what);
            return Outcome::done;
        };
    }
    std::mutex mutex;
    std::vector<int> order;
};

std::string message_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        return error.text();
    }
    return "nothing was thrown";
}

}  // namespace

TEST_CASE("one thread runs its operations in their order, step after step") {
    Net net;
    Log log;
    const int ops = net.block(Kind::ops);
    for (int i = 0; i < 5; ++i) net.op(ops, 0, 0, log.add(i));
    Program program = net.program(0);
    Executor executor(program, crowded());
    const Batch batch = executor.run(2);
    CHECK(log.order == std::vector{0, 1, 2, 3, 4, 0, 1, 2, 3, 4});
    CHECK(batch.steps == 2);
    CHECK(batch.threads[0].operations == 10);
    CHECK(executor.epoch() == 2);
    CHECK(executor.run(1).steps == 1);
    CHECK(log.order.size() == 15);
    CHECK(executor.epoch() == 3);
}

TEST_CASE("an operation that waits for an event is asked again while others run") {
    const int threads = GENERATE(1, 2);
    Net net(1, threads);
    Log log;
    std::atomic<int> asked{0};
    const int ops = net.block(Kind::ops);
    const int event = net.op(
        ops, 0, 0, [&](Worker& worker) { return ++asked % 3 == 0 ? log.add(0)(worker) : Outcome::later; });
    const int after = net.op(ops, 0, 0, log.add(1));
    net.wait(after, event);
    net.op(ops, 0, 0, log.add(2));
    Program program = net.program(0);
    Executor executor(program, crowded());
    static_cast<void>(executor.run(4));
    CHECK(log.order.size() == 12);
    CHECK(asked == 12);
    if (threads == 1) CHECK(std::vector(log.order.begin(), log.order.begin() + 3) == std::vector{2, 0, 1});
}

TEST_CASE("an event is asked for between operations, not only when nothing else is left") {
    Net net;
    std::vector<int> order;
    const int ops = net.block(Kind::ops);
    int asked = 0;
    net.op(ops, 0, 0, [&](Worker&) {
        if (++asked < 3) return Outcome::later;
        order.push_back(-1);
        return Outcome::done;
    });
    constexpr int others = 50;
    for (int i = 0; i < others; ++i)
        net.op(ops, 0, 0, [&order, i](Worker&) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            order.push_back(i);
            return Outcome::done;
        });
    Program program = net.program(0);
    static_cast<void>(Executor(program, crowded()).run(1));
    const auto at = std::find(order.begin(), order.end(), -1) - order.begin();
    CHECK(at < others);
}

TEST_CASE("the thread that speaks MPI polls while it works and while it waits") {
    Net net(1, 2);
    const int ops = net.block(Kind::ops);
    std::atomic<int> polled{0};
    std::set<std::thread::id> by;
    std::atomic<int> while_working{0};  // another thread may take some over
    for (int i = 0; i < 20; ++i)
        net.op(ops, 0, 0, [&](Worker&) {
            std::this_thread::sleep_for(std::chrono::microseconds(100));
            while_working = polled.load();
            return Outcome::done;
        });
    ExecutorOptions options = crowded();
    options.progress = [&] {
        ++polled;
        by.insert(std::this_thread::get_id());
    };
    // Waits for the other process's, which never comes before it was polled for 40 times.
    const int last = net.op(ops, 0, 0, [](Worker&) { return Outcome::done; });
    const int other =
        net.op(ops, 0, 1, [&](Worker&) { return polled < 40 ? Outcome::later : Outcome::done; });
    net.wait(last, other);
    Program program = net.program(0);
    static_cast<void>(Executor(program, options).run(1));
    CHECK(while_working > 0);
    CHECK(polled >= 40);
    CHECK(by == std::set{std::this_thread::get_id()});
}

TEST_CASE("a repeat goes round until its decision, also when threads without operations there must follow") {
    const int threads = GENERATE(1, 2, 4);
    Net net(1, threads);
    Log log;
    std::array<std::atomic<int>, 128> left{};  // [epoch of the loop]
    const int loop = net.block(Kind::repeat, 0, 1, 100);
    const int inner = net.block(Kind::ops, loop, 1);
    const int after = net.block(Kind::ops);
    // In step s the loop takes 3 + s rounds.
    int round_in_step = 0;
    const int judge = net.op(inner, 0, threads - 1, [&](Worker& worker) {
        ++round_in_step;
        const bool last = round_in_step == 3 + static_cast<int>(worker.epoch(0));
        if (last) round_in_step = 0;
        left[worker.epoch(1)] = last ? 0 : 1;
        return Outcome::done;
    });
    net.wait(judge, judge, 1);
    net.decide(loop, {[](const void* what, Epoch epoch) {
                          return (*static_cast<const decltype(left)*>(what))[epoch].load() != 0;
                      },
                      &left, net.decided_by(judge)});
    const int end = net.op(after, 0, 0, log.add(7));
    net.wait(end, judge);
    Program program = net.program(0);
    Executor executor(program, crowded());
    static_cast<void>(executor.run(3));
    CHECK(executor.epoch(1) == 4 + 5 + 6);
    CHECK(log.order == std::vector{7, 7, 7});
}

TEST_CASE("a run ends where its own decision says so") {
    const int threads = GENERATE(1, 3);
    Net net(1, threads);
    std::atomic<Epoch> last{0};
    const int ops = net.block(Kind::ops);
    const int judge = net.op(ops, 0, 0, [&](Worker& worker) {
        last = worker.epoch();
        return Outcome::done;
    });
    Program program = net.program(0);
    Executor executor(program, crowded());
    const Decision go_on{[](const void*, Epoch epoch) { return epoch % 5 != 0; }, nullptr,
                         net.decided_by(judge)};
    CHECK(executor.run(100, go_on).steps == 5);
    CHECK(last == 5);
    CHECK(executor.run(100, go_on).steps == 5);
    CHECK(executor.run(3, go_on).steps == 3);
    CHECK(executor.epoch() == 13);
}

TEST_CASE("threads that run out of work take operations over") {
    const int threads = GENERATE(2, 4);
    Net net(1, threads);
    const int ops = net.block(Kind::ops);
    std::atomic<int> by_others{0};
    std::atomic<Epoch> helped{0};  // the last step in which somebody did
    for (int i = 0; i < 40; ++i)
        net.op(ops, 0, 0, [&, i](Worker& worker) {
            if (worker.thread() != 0) {
                ++by_others;
                helped = worker.epoch();
            } else if (i == 0) {  // there is enough left to take over until somebody does
                while (helped != worker.epoch()) std::this_thread::yield();
            }
            return Outcome::done;
        });
    Program program = net.program(0);
    ExecutorOptions options = crowded();
    SECTION("of their domain") {}
    SECTION("and of other domains, where there is nothing else") {
        for (int t = 0; t < threads; ++t) options.domains.push_back(t);
    }
    Executor executor(program, options);
    const Batch batch = executor.run(5);
    std::uint64_t stolen = 0, all = 0;
    for (const Usage& usage : batch.threads) stolen += usage.stolen, all += usage.operations;
    CHECK(all == 200);
    CHECK(stolen == static_cast<std::uint64_t>(by_others.load()));
    CHECK(stolen >= 5);
    CHECK(batch.threads[0].stolen == 0);
}

TEST_CASE("what speaks MPI is never taken over") {
    Net net(1, 3);
    const int ops = net.block(Kind::ops);
    std::atomic<int> wrong{0};
    for (int i = 0; i < 20; ++i) {
        const int op = net.op(ops, 0, 0, [&](Worker& worker) {
            if (worker.thread() != 0) ++wrong;
            std::this_thread::sleep_for(std::chrono::microseconds(200));
            return Outcome::done;
        });
        net.speaks_mpi(op);
    }
    Program program = net.program(0);
    static_cast<void>(Executor(program, crowded()).run(3));
    CHECK(wrong == 0);
}

TEST_CASE("lists that wait for each other backwards come to their end however long they are") {
    // The first operation of each list waits for the last of the other.
    constexpr int length = 500;
    Net net(1, 2);
    const int ops = net.block(Kind::ops);
    std::array<int, 2> first{}, last{};
    for (int t = 0; t < 2; ++t)
        for (int i = 0; i < length; ++i) {
            const int op = net.op(ops, 0, t, [](Worker&) { return Outcome::done; });
            if (i == 0) first[static_cast<std::size_t>(t)] = op;
            last[static_cast<std::size_t>(t)] = op;
        }
    net.wait(first[0], last[1]);
    net.wait(first[1], last[0]);
    Program program = net.program(0);
    Executor executor(program, crowded());
    CHECK(executor.run(3).steps == 3);
}

TEST_CASE("a moldable operation is shared by the threads that are free") {
    const int threads = GENERATE(1, 2, 4);
    Net net(1, threads);
    const int ops = net.block(Kind::ops);
    constexpr std::int64_t count = 400;
    std::vector<std::atomic<int>> times(count);
    std::atomic<Epoch> helped{0};  // the last step in which a second thread came
    const int op = net.op(ops, 0, 0, [&](Worker& worker) {
        worker.parallel_for(
            0, count,
            [&](std::int64_t from, std::int64_t to, int thread) {
                for (std::int64_t i = from; i < to; ++i) ++times[static_cast<std::size_t>(i)];
                if (thread != worker.thread())
                    helped = worker.epoch();
                else
                    while (threads > 1 && helped != worker.epoch()) std::this_thread::yield();
            },
            4);
        return Outcome::done;
    });
    net.moldable(op, 2);
    Program program = net.program(0);
    static_cast<void>(Executor(program, crowded()).run(3));
    CHECK(std::all_of(times.begin(), times.end(), [](const auto& n) { return n == 3; }));
    CHECK(helped == (threads > 1 ? 3 : 0));
}

TEST_CASE("an exception within a shared loop ends the run, with the operation's name") {
    Net net(1, 2);
    const int ops = net.block(Kind::ops);
    const int op = net.op(
        ops, 0, 0,
        [&](Worker& worker) {
            worker.parallel_for(0, 100, [&](std::int64_t from, std::int64_t) {
                std::this_thread::sleep_for(std::chrono::microseconds(50));
                if (from == 50) throw Error("the pressure is negative");
            });
            return Outcome::done;
        },
        "pressure", 3);
    net.moldable(op, 2);
    Program program = net.program(0);
    Executor executor(program, crowded());
    const std::string text = message_of([&] { static_cast<void>(executor.run(1)); });
    CHECK(text.find("pressure on patch 3 in step 1: the pressure is negative") != std::string::npos);
}

TEST_CASE("an exception in an operation ends the run in all threads, with its name, patch and step") {
    const int threads = GENERATE(1, 2, 4);
    Net net(1, threads);
    const int ops = net.block(Kind::ops);
    const int bad = net.op(
        ops, 0, threads - 1,
        [](Worker& worker) -> Outcome {
            if (worker.epoch() == 3) throw Error("a density below zero").given("-1").remedy("a shorter step");
            return Outcome::done;
        },
        "stress", 17);
    for (int t = 0; t < threads; ++t) net.wait(net.op(ops, 0, t, [](Worker&) { return Outcome::done; }), bad);
    Program program = net.program(0);
    Executor executor(program, crowded());
    const std::string text = message_of([&] { static_cast<void>(executor.run(10)); });
    CHECK(text.find("stress on patch 17 in step 3: a density below zero") != std::string::npos);
    CHECK(text.find("given: -1") != std::string::npos);
    CHECK(text.find("a shorter step") != std::string::npos);
    CHECK(message_of([&] { static_cast<void>(executor.run(1)); }).find("runs no further") !=
          std::string::npos);
}

TEST_CASE("other exceptions become errors that say where") {
    Net net;
    net.op(
        net.block(Kind::ops), 0, 0, [](Worker&) -> Outcome { throw std::runtime_error("no memory is left"); },
        "halo", 2);
    Program program = net.program(0);
    CHECK(message_of([&] {
              static_cast<void>(Executor(program, crowded()).run(1));
          }).find("halo on patch 2 in step 1: no memory is left") != std::string::npos);
}

TEST_CASE("a lost member ends the wait for it") {
    const int threads = GENERATE(1, 2);
    Net net(2, threads);
    const int ops = net.block(Kind::ops);
    const int theirs = net.op(ops, 1, 0, [](Worker&) { return Outcome::done; });
    net.wait(net.op(
                 ops, 0, 0, [](Worker&) { return Outcome::done; }, "mine", 1),
             theirs);
    Program program = net.program(0);  // nobody runs the other process's
    team::Failure failure;
    ExecutorOptions options = crowded();
    options.patience.failure = &failure;
    if (threads == 1) options.patience = {&failure};
    std::thread teller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        failure.tell(1, 4711, "was killed by SIGKILL");
    });
    Executor executor(program, options);
    const std::string text = message_of([&] { static_cast<void>(executor.run(1)); });
    teller.join();
    CHECK(text.find("member 1 (process 4711) was killed by SIGKILL") != std::string::npos);
    CHECK(text.find("mine") == std::string::npos);
}

TEST_CASE("programs that cannot be executed are refused") {
    Net net(1, 2);
    const int ops = net.block(Kind::ops);
    const int op = net.op(
        ops, 0, 1, [](Worker&) { return Outcome::done; }, "send", 4);
    Program program = net.program(0);
    const auto refused = [&] { return message_of([&] { Executor executor(program, crowded()); }); };
    SECTION("MPI in the wrong thread") {
        net.speaks_mpi(op);
        program = net.program(0);
        CHECK(refused().find("send on patch 4 speaks MPI") != std::string::npos);
    }
    SECTION("an operation in two lists") {
        program.step.inside[0]->order[0].push_back(0);
        CHECK(refused().find("send on patch 4 is in two lists") != std::string::npos);
    }
    SECTION("no flag") {
        program.ops[0].flag = nullptr;
        CHECK(refused().find("no function or no flag") != std::string::npos);
    }
    SECTION("a scope that is not there") {
        program.step.inside[0]->scope = 3;
        CHECK(refused().find("scope") != std::string::npos);
    }
}
