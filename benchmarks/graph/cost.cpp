// What a task costs in Strata's executor and in its peers, in one run, in random order.
//
//   graph-cost [ROUNDS [MILLISECONDS]]        e.g. graph-cost, or graph-cost 21 50
//
// Taskflow and oneTBB take part where this was built with them:
//   cmake -S . -B BUILD -DSTRATA_TASKFLOW=DIR -DSTRATA_TBB=DIR   (the folders that hold taskflow/ and
//   include/)
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <thread>

#include "benchmarks/common/clock.hpp"
#include "benchmarks/common/median.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/graph.hpp"
#include "benchmarks/graph/peers.hpp"
#include "benchmarks/team/members.hpp"
#include "core/base/error.hpp"
#include "core/launch/bind.hpp"

namespace {

using namespace strata;
using namespace strata::bench;
using namespace strata::bench::graph_layer;

class Ours final : public Peer {
  public:
    Ours(int threads, std::size_t records) : bound_(threads, records) {}
    void run(int steps, std::int64_t work_steps) override {
        bound_.chain().do_work(work_steps);
        static_cast<void>(bound_.executor().run(static_cast<std::uint32_t>(steps)));
    }

  private:
    BoundChain bound_;
};

class OursDeclared final : public Peer {
  public:
    OursDeclared(int threads, std::size_t records) : bound_(threads, records) {}
    void run(int steps, std::int64_t work_steps) override {
        bound_.tasks().do_work(work_steps);
        bound_.run(steps);
    }

  private:
    BoundDeclared bound_;
};

/// A kind of ours, by what it is and how many records each thread keeps.
template <class Kind>
PeerKind ours(const char* name, std::size_t records) {
    return {name, [records](const std::vector<int>& pus) {
                return std::make_unique<Kind>(static_cast<int>(pus.size()), records);
            }};
}

/// One round: the runtime is started, warmed up and measured; nanoseconds a task.
double measure(const PeerKind& kind, const std::vector<int>& pus, std::int64_t work_steps, double window) {
    double ns = 0;
    // In a thread of its own, so that what a runtime does to its calling thread is gone with it.
    std::thread([&] {
        const std::unique_ptr<Peer> peer = kind.make(pus);
        launch::bind_to({pus.front()});
        constexpr int trial = 2 * kStepsAtOnce;
        peer->run(trial, work_steps);
        double begin = now();
        peer->run(trial, work_steps);
        const int steps = trial * std::max(1, static_cast<int>(window / (now() - begin)));
        begin = now();
        peer->run(steps, work_steps);
        ns = 1e9 * (now() - begin) / (static_cast<double>(steps) * kTasksAStep);
    }).join();
    return ns;
}

struct Column {
    const char* name;
    int threads;
    std::int64_t work_steps;
};

int compare(int rounds, double window) {
    constexpr std::size_t records = 1U << 12U;
    std::vector<PeerKind> kinds = {ours<OursDeclared>("Strata, declared with labels", 0),
                                   ours<OursDeclared>("Strata, declared, recording", records),
                                   ours<Ours>("Strata, operations by hand", 0),
                                   ours<Ours>("Strata, by hand, recording", records)};
    for (PeerKind& peer : peers()) kinds.push_back(std::move(peer));
    const int cores = std::min(team_layer::usable_cores(), 2);
    const std::int64_t micro = steps_for(1e-6);
    std::vector<Column> columns = {{"empty, 1 thread", 1, 0}, {"1 us, 1 thread", 1, micro}};
    if (cores > 1) {
        columns.push_back({"empty, 2 threads", 2, 0});
        columns.push_back({"1 us, 2 threads", 2, micro});
    }
    std::vector<double> alone;
    std::vector<std::vector<double>> all(kinds.size() * columns.size());
    std::vector<std::size_t> order(all.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::mt19937 random(std::random_device{}());
    for (int round = 0; round < rounds; ++round) {
        std::shuffle(order.begin(), order.end(), random);
        alone.push_back(alone_ns(micro));
        for (const std::size_t which : order) {
            const Column& column = columns[which % columns.size()];
            const std::vector<int> pus = team_layer::pus_for(column.threads);
            all[which].push_back(measure(kinds[which / columns.size()], pus, column.work_steps, window));
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    const double ideal = bench::median(alone);
    fmt::print(
        "{} patches x {} tasks; n={} rounds of {:.0f} ms; ns a task: median [smallest, largest]; a task of "
        "1 us in a plain loop: {:.1f} ns\n\n| |",
        kPatches, kTasks, rounds, 1e3 * window, ideal);
    for (const Column& column : columns) fmt::print(" {} |", column.name);
    fmt::print(" efficiency |\n| --- |");
    for (std::size_t c = 0; c <= columns.size(); ++c) fmt::print(" --- |");
    for (std::size_t k = 0; k < kinds.size(); ++k) {
        fmt::print("\n| {} |", kinds[k].name);
        double last = 0;
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::vector<double>& values = all[k * columns.size() + c];
            const auto [least, most] = std::minmax_element(values.begin(), values.end());
            last = bench::median(values);
            fmt::print(" {:.1f} [{:.1f}, {:.1f}] |", last, *least, *most);
        }
        fmt::print(" {:.1f} % |", 100 * ideal / (columns.back().threads * last));
    }
    fmt::print("\n");
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto number = [&](int i, int otherwise) {
        return argc > i ? std::max(1, std::atoi(argv[i])) : otherwise;
    };
    try {
        return compare(number(1, 11), 1e-3 * number(2, 30));
    } catch (const Error& error) {
        fmt::print(stderr, "{}", error.text());
        return error.exit_code();
    }
}
