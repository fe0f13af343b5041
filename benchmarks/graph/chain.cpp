#include "benchmarks/graph/chain.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "benchmarks/common/clock.hpp"

namespace strata::bench::graph_layer {
namespace {

std::size_t at(int task, int patch) { return static_cast<std::size_t>(task * kPatches + patch); }

int thread_of(int patch, int threads) { return patch * threads / kPatches; }

/// The shortest of some loops over a step's tasks, in seconds a task.
double loop_of(std::int64_t steps) {
    double least = 1;
    for (int attempt = 0; attempt < 20; ++attempt) {
        const double begin = now();
        for (int task = 0; task < kTasksAStep; ++task) work(steps);
        least = std::min(least, (now() - begin) / kTasksAStep);
    }
    return least;
}

}  // namespace

std::int64_t steps_for(double seconds) {
    constexpr std::int64_t trial = 1000;
    return static_cast<std::int64_t>(static_cast<double>(trial) * seconds / loop_of(trial));
}

double alone_ns(std::int64_t steps) { return 1e9 * loop_of(steps); }

ChainProgram::ChainProgram(int threads) : values_(kTasksAStep) {
    program_.threads = threads;
    program_.names = {"task 0", "task 1", "task 2", "task 3", "task 4", "task 5"};
    make_operations(threads);
    make_waits();
    make_order(threads);
}

void ChainProgram::make_operations(int threads) {
    program_.ops.resize(kTasksAStep);
    cells_.reserve(kTasksAStep);
    constexpr int margin = 32;  // flags, so that no two threads' share lines
    own_ = std::make_unique<graph::Flag[]>(static_cast<std::size_t>(kTasksAStep + margin * (threads + 1)));
    seen_ = std::make_unique<Flags[]>(kTasksAStep);
    const auto beside_others = [&](int patch) {
        const int thread = thread_of(patch, threads);
        return (patch > 0 && thread_of(patch - 1, threads) != thread) ||
               (patch + 1 < kPatches && thread_of(patch + 1, threads) != thread);
    };
    for (int task = 0; task < kTasks; ++task)
        for (int patch = 0; patch < kPatches; ++patch) {
            cells_.push_back({this, task, patch});
            graph::Op& op = program_.ops[at(task, patch)];
            op.go = go;
            op.what = &cells_.back();
            op.patch = patch;
            op.name = static_cast<std::uint32_t>(task);
            const auto own = static_cast<std::size_t>(patch * kTasks + task) +
                             static_cast<std::size_t>(margin * (thread_of(patch, threads) + 1));
            op.flag = beside_others(patch) ? &seen_[at(task, patch)].flag : &own_[own];
        }
}

void ChainProgram::make_waits() {
    for (int task = 0; task < kTasks; ++task)
        for (int patch = 0; patch < kPatches; ++patch) {
            graph::Op& op = program_.ops[at(task, patch)];
            op.first_wait = static_cast<std::uint32_t>(program_.waits.size());
            const auto wait = [&](int other_task, int other, std::uint16_t lag) {
                if (other < 0 || other >= kPatches) return;
                const std::size_t number = at(other_task, other);
                program_.waits.push_back({program_.ops[number].flag, 0, lag});
            };
            const int before = (task + kTasks - 1) % kTasks, after = (task + 1) % kTasks;
            const std::uint16_t then = task == 0 ? 1 : 0, ago = task == kTasks - 1 ? 0 : 1;
            for (int d = -1; d <= 1; ++d)
                if (d == 0 || needs_neighbours(task)) wait(before, patch + d, then);
            for (int d = -1; d <= 1; ++d)  // those that read what this one overwrites
                if (d != 0 && needs_neighbours(after)) wait(after, patch + d, ago);
            op.last_wait = static_cast<std::uint32_t>(program_.waits.size());
        }
}

void ChainProgram::make_order(int threads) {
    auto block = std::make_unique<graph::Block>();
    block->order.resize(static_cast<std::size_t>(threads));
    std::vector<int> patches(kPatches);
    std::iota(patches.begin(), patches.end(), 0);
    const auto from_border = [&](int patch) {
        int distance = kPatches;
        for (int other = 0; other < kPatches; ++other)
            if (thread_of(other, threads) != thread_of(patch, threads))
                distance = std::min(distance, std::abs(other - patch));
        return distance;
    };
    std::stable_sort(patches.begin(), patches.end(),
                     [&](int a, int b) { return from_border(a) < from_border(b); });
    for (int task = 0; task < kTasks; ++task)
        for (const int patch : patches)
            block->order[static_cast<std::size_t>(thread_of(patch, threads))].push_back(
                static_cast<std::uint32_t>(at(task, patch)));
    program_.step.kind = graph::Block::Kind::sequence;
    program_.step.inside.push_back(std::move(block));
}

std::uint64_t ChainProgram::value(int task, int patch, std::span<const std::uint64_t> values) const {
    const int before = (task + kTasks - 1) % kTasks;
    std::uint64_t sum = 1;
    for (int d = -1; d <= 1; ++d) {
        const int other = patch + d;
        if (other < 0 || other >= kPatches || (d != 0 && !needs_neighbours(task))) continue;
        sum = sum * 31 + values[at(before, other)] + static_cast<std::uint64_t>(at(task, patch));
    }
    return sum;
}

graph::Outcome ChainProgram::go(void* what, graph::Worker&) {
    const Cell& cell = *static_cast<const Cell*>(what);
    ChainProgram& chain = *cell.chain;
    if (chain.steps_ > 0) {
        work(chain.steps_);
    } else if (chain.steps_ < 0) {
        std::uint64_t value = chain.value(cell.task, cell.patch, chain.values_);
        const bool here = cell.task == 2 && cell.patch == kPatches / 2;
        if (here && chain.fault_ == Break::perturb) ++value;
        if (!here || chain.fault_ != Break::skip) chain.values_[at(cell.task, cell.patch)] = value;
    }
    return graph::Outcome::done;
}

int ChainProgram::wrong(int steps) const {
    std::vector<std::uint64_t> right(kTasksAStep);
    for (int step = 0; step < steps; ++step)
        for (int task = 0; task < kTasks; ++task)
            for (int patch = 0; patch < kPatches; ++patch) right[at(task, patch)] = value(task, patch, right);
    int wrong = 0;
    for (std::size_t i = 0; i < right.size(); ++i) wrong += right[i] != values_[i] ? 1 : 0;
    return wrong;
}

}  // namespace strata::bench::graph_layer
