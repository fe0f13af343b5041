// Random programs against a serial oracle: every operation folds the values of all that it waited for into
// its own, so that one that ran too early, twice, or with another round's inputs changes what the others
// find.
#include <algorithm>
#include <random>

#include "core/graph/execute/random.hpp"
#include "core/team/crew.hpp"
#include "tests/catch.hpp"
#include "tests/graph/execute/execute_net.hpp"
#include "tests/team/shared.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::graph::testing;
using Kind = Block::Kind;

namespace {

constexpr std::uint64_t kNotYet = 0;
constexpr Epoch kMostRounds = 512;
#ifdef __SANITIZE_THREAD__  // takes some twenty times as long
constexpr std::uint64_t kSeeds = 4, kShuffledSeeds = 3;
#else
constexpr std::uint64_t kSeeds = 20, kShuffledSeeds = 8;
#endif

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return detail::SplitMix64(a * 31 + b).next() | 1U; }

/// One round more, of three in which it is asked.
bool more(const void* values, Epoch epoch) {
    return static_cast<const std::uint64_t*>(values)[epoch] % 3 != 0;
}

/// Where blocks stand in the step: A, repeat { B, subcycle { C }, D }, when { E }, F.
enum Part { A, B, C, D, E, F, kParts };
constexpr std::uint16_t kScope[kParts] = {0, 1, 2, 1, 3, 0};
bool within(Part part, std::uint16_t scope) {
    return scope == kScope[part] || scope == 0 || (part == C && scope == 1);
}

class Tangle {
  public:
    Tangle(std::uint64_t seed, int processes, int threads, bool events) : net(processes, threads) {
        std::mt19937_64 random(seed);
        const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
        const int a = net.block(Kind::ops);
        const int loop = net.block(Kind::repeat, 0, 1, 4);
        const int b = net.block(Kind::ops, loop, 1), cycle = net.block(Kind::subcycle, loop, 2, 3);
        const int c = net.block(Kind::ops, cycle, 2), d = net.block(Kind::ops, loop, 1);
        const int when = net.block(Kind::when, 0, 3);
        const int e = net.block(Kind::ops, when, 3), f = net.block(Kind::ops);
        const int blocks[kParts] = {a, b, c, d, e, f};
        for (int part = 0; part < kParts; ++part)
            for (std::size_t i = 4 + below(12); i > 0; --i) {
                const int op =
                    net.op(blocks[part], static_cast<int>(below(static_cast<std::size_t>(processes))),
                           static_cast<int>(below(static_cast<std::size_t>(threads))), {});
                nodes.push_back({static_cast<Part>(part), {}, events && below(5) == 0 ? 3 : 0, 0, {}});
                nodes.back().values.resize(kMostRounds);
                if (part == A) chooser = op;
                if (part == D) judge = op;
            }
        for (std::size_t op = 0; op < nodes.size(); ++op) {
            for (std::size_t i = below(5); i > 0; --i) {
                const std::size_t other = below(nodes.size());
                const Part here = nodes[op].part, there = nodes[other].part;
                const bool this_round =
                    here == there ? other < op : there < here || !within(here, kScope[there]);
                const auto lag = static_cast<std::uint16_t>(below(3) + (this_round ? 0 : 1));
                nodes[op].inputs.push_back({other, lag});
                net.wait(static_cast<int>(op), static_cast<int>(other), lag);
            }
            net.body(static_cast<int>(op)) = [this, op](Worker& worker) { return run(op, worker); };
        }
        const auto decision = [&](int by) {
            return Decision{more, nodes[static_cast<std::size_t>(by)].values.data(), net.decided_by(by)};
        };
        net.decide(loop, decision(judge));
        net.decide(when, decision(chooser));
    }

    /// The values that one thread finds which goes through everything in the order of the numbers.
    [[nodiscard]] std::vector<std::vector<std::uint64_t>> expected(std::uint32_t steps) const {
        std::vector<std::vector<std::uint64_t>> values(nodes.size(), std::vector<std::uint64_t>(kMostRounds));
        Epoch counts[4] = {};
        const auto part = [&](Part which) {
            for (std::size_t op = 0; op < nodes.size(); ++op)
                if (nodes[op].part == which)
                    values[op][counts[kScope[which]]] = value(
                        op, counts, [&](std::size_t other, Epoch epoch) { return values[other][epoch]; });
        };
        const auto asked = [&](int op) {
            const auto at = static_cast<std::size_t>(op);
            return more(values[at].data(), counts[kScope[nodes[at].part]]);
        };
        for (std::uint32_t step = 0; step < steps; ++step) {
            ++counts[0];
            part(A);
            for (int round = 0; round < 4; ++round) {
                ++counts[1];
                part(B);
                for (int cycle = 0; cycle < 3; ++cycle) ++counts[2], part(C);
                part(D);
                if (round < 3 && !asked(judge)) break;
            }
            if (asked(chooser)) ++counts[3], part(E);
            part(F);
        }
        return values;
    }

    /// After a run of so many steps.
    [[nodiscard]] bool as_expected(std::uint32_t steps) const {
        const auto right = expected(steps);
        for (std::size_t op = 0; op < nodes.size(); ++op)
            if (nodes[op].values != right[op]) return false;
        return twice == 0;
    }

    struct Node {
        Part part;
        std::vector<std::pair<std::size_t, std::uint16_t>> inputs;
        int events;  // how often it says `later` first
        int asked;
        std::vector<std::uint64_t> values;  // [epoch of its scope]
    };
    Net net;
    std::vector<Node> nodes;
    int judge = -1, chooser = -1;
    std::atomic<int> twice{0};

  private:
    template <class Counts, class Read>
    std::uint64_t value(std::size_t op, const Counts& counts, Read read) const {
        const Node& node = nodes[op];
        std::uint64_t result = mixed(op + 1, counts[kScope[node.part]]);
        for (const auto& [other, lag] : node.inputs) {
            const Epoch count = counts[kScope[nodes[other].part]];
            result = mixed(result, count > lag ? read(other, count - lag) : 7);
        }
        return result;
    }

    Outcome run(std::size_t op, Worker& worker) {
        Node& node = nodes[op];
        if (node.events > 0 && ++node.asked % (node.events + 1) != 0) return Outcome::later;
        Epoch counts[4] = {};
        for (std::uint16_t scope = 0; scope < 4; ++scope) counts[scope] = worker.epoch(scope);
        std::uint64_t& mine = node.values[counts[kScope[node.part]]];
        if (mine != kNotYet) ++twice;
        mine = value(op, counts, [&](std::size_t other, Epoch epoch) { return nodes[other].values[epoch]; });
        return Outcome::done;
    }
};

struct Layout {
    int processes, threads;
};

ExecutorOptions shuffled(std::uint64_t seed) {
    ExecutorOptions options = crowded();
    options.shuffle = {seed, 0.05, 2e-5};
    return options;
}

}  // namespace

TEST_CASE("random programs give what a serial run gives, whatever the layout") {
    const Layout layout = GENERATE(Layout{1, 1}, Layout{1, 2}, Layout{1, 4}, Layout{2, 1}, Layout{3, 2});
    CAPTURE(layout.processes, layout.threads);
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        Tangle tangle(seed, layout.processes, layout.threads, seed % 2 == 0);
        run_all(tangle.net, layout.processes, 5, crowded(), 3);
        if (!tangle.as_expected(15)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("random programs give the same in any order and with random delays") {
    const Layout layout = GENERATE(Layout{1, 1}, Layout{1, 3}, Layout{2, 2}, Layout{4, 1});
    CAPTURE(layout.processes, layout.threads);
    int wrong = 0;
    for (std::uint64_t seed = 1; seed <= kShuffledSeeds; ++seed) {
        Tangle tangle(seed, layout.processes, layout.threads, seed % 2 == 0);
        run_all(tangle.net, layout.processes, 4, shuffled(seed), 2);
        if (!tangle.as_expected(8)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("shuffling takes other orders than the preferred one, the same again with the same seed") {
    const auto orders = [](std::uint64_t seed) {
        Net net;
        std::vector<int> order;
        const int ops = net.block(Kind::ops);
        for (int i = 0; i < 8; ++i)
            net.op(ops, 0, 0, [&order, i](Worker&) {
                order.push_back(i);
                return Outcome::done;
            });
        Program program = net.program(0);
        ExecutorOptions options = crowded();
        options.shuffle = {seed, 0, 0};
        static_cast<void>(Executor(program, options).run(2));
        return order;
    };
    const std::vector<int> order = orders(3);
    CHECK(!std::is_sorted(order.begin(), order.begin() + 8));
    CHECK(!std::equal(order.begin(), order.begin() + 8, order.begin() + 8));
    CHECK(orders(3) == order);
    CHECK(orders(4) != order);
}

TEST_CASE("a crew runs a program made for more or fewer threads than it has, also when that changes") {
    const int lists = GENERATE(1, 2, 3, 5);
    Tangle tangle(42, 1, lists, true);
    const team::CrewPlaces places = team::CrewPlaces::even(1, 3);
    const team::testing::Zeros memory(team::CrewTable::bytes(places));
    team::CrewTable::form(memory.get(), places);
    team::Crew crew(memory.get(), 0, {}, team::Patience::crowded(nullptr));
    Program program = tangle.net.program(0);
    Executor executor(program, crowded(), &crew);
    for (const int threads : {3, 1, 2}) {
        crew.set_count(0, threads);
        const Batch batch = executor.run(4);
        CHECK(batch.steps == 4);
        CHECK(executor.threads() <= 3);
        CHECK(batch.threads.size() == static_cast<std::size_t>(executor.threads()));
    }
    CHECK(tangle.as_expected(12));
}
