#include "benchmarks/npb/mz/relaxed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace strata::npb::mz {
namespace {

std::int64_t eights_of(const Index& size) { return flow::round_up(size[1] - 2) / kLanes; }

/// In how many blocks each of `zones` equal zones is cut, so that `workers` end soonest: a block begins one
/// plane after the one before it, and no worker waits only where blocks share out evenly.
int blocks_for(std::int64_t zones, std::int64_t workers, const Index& size) {
    const std::int64_t planes = size[2] - 2;
    int best = 1;
    double shortest = 0;
    for (std::int64_t blocks = 1; blocks <= std::min(workers, eights_of(size)); ++blocks) {
        const std::int64_t each = (zones * blocks + workers - 1) / workers;
        const std::int64_t rows = (eights_of(size) + blocks - 1) / blocks;
        const auto time = static_cast<double>((planes + blocks - 1) * each * rows);
        if (blocks > 1 && time >= shortest) continue;
        shortest = time;
        best = static_cast<int>(blocks);
    }
    return best;
}

}  // namespace

Relaxed::Relaxed(Mesh& mesh, double dt, Break fault, Busy& busy) : mesh_(mesh), busy_(busy) {
    Group& group = mesh.group();
    tasks_.resize(static_cast<std::size_t>(group.workers()));
    std::vector<int> blocks(mesh.cells().size(), 1);
    for (const Mesh::Crew& crew : mesh.crews()) {
        if (crew.cells.empty()) continue;
        const int each =
            blocks_for(std::ssize(crew.cells), crew.count, mesh.cells()[crew.cells.front()].tile.size);
        most_blocks_ = std::max(most_blocks_, each);
        for (int w = 0; w < crew.count; ++w) {
            const Share own(std::ssize(crew.cells) * each, w, crew.count);
            for (std::int64_t t = own.begin; t < own.end; ++t)
                tasks_[static_cast<std::size_t>(crew.first + w)].push_back(
                    {crew.cells[static_cast<std::size_t>(t / each)], static_cast<int>(t % each)});
        }
        for (const std::size_t cell : crew.cells) blocks[cell] = each;
    }
    solves_.reserve(mesh.cells().size());
    for (std::size_t c = 0; c < mesh.cells().size(); ++c) {
        const flow::Cell& cell = mesh.cells()[c];
        solves_.emplace_back(cell, blocks[c], dt, fault, group, fmt::format(", zone {}", c));
        planes_ = std::max(planes_, solves_.back().planes());
        room_ = std::max(room_, lu::Solve::scratch_doubles(cell.tile.size));
    }
    scratch_ = group.array<double>("rows under work", room_ * tasks_.size());
}

std::vector<Need> Relaxed::needs(const Zones& zones, int ranks, int workers) {
    const Index size = zones.size(0);
    const int blocks = static_cast<int>(std::min<std::int64_t>(workers, eights_of(size)));
    const std::uint64_t count =
        (zones.count() + static_cast<std::size_t>(ranks) - 1) / static_cast<std::size_t>(ranks);
    return {{"rows under work",
             lu::Solve::scratch_doubles(size) * static_cast<std::uint64_t>(workers) * sizeof(double)},
            {"rows and planes before", lu::Solve::bytes(size, blocks) * count}};
}

template <int Way>
void Relaxed::sweep() {
    // Together with the block before it each has the plane behind; a zone in one block waits for nobody.
    const std::int64_t steps = most_blocks_ == 1 ? 1 : planes_ + most_blocks_ - 1;
    for (std::int64_t step = 0; step < steps; ++step)
        mesh_.group().each([&](int worker, int) {
            const auto w = static_cast<std::size_t>(worker);
            double* scratch = scratch_.data() + room_ * w;
            busy_.count(worker, [&] {
                for (const Task& task : tasks_[w]) {
                    lu::Solve& solve = solves_[task.cell];
                    // Blocks are counted in the order of the sweep.
                    const int block = Way > 0 ? task.block : solve.blocks() - 1 - task.block;
                    if (steps == 1) {
                        solve.clear(0, 1, true);
                        for (std::int64_t nth = 0; nth < planes_; ++nth)
                            solve.plane<Way>(nth, 0, nth, scratch);
                        continue;
                    }
                    const std::int64_t nth = step - block;
                    if (nth >= 0 && nth < planes_) solve.plane<Way>(nth, block, step, scratch);
                }
            });
        });
}

void Relaxed::iterate() {
    mesh_.exchange();
    const auto clear = [&] {
        if (most_blocks_ > 1)
            mesh_.group().each([&](int worker, int) {
                for (const Task& task : tasks_[static_cast<std::size_t>(worker)])
                    solves_[task.cell].clear(task.block, solves_[task.cell].blocks(), true);
            });
    };
    clear();
    sweep<1>();
    clear();
    sweep<-1>();
    mesh_.each([&](const flow::Work& work) { busy_.count(work.worker, [&] { flow::evaluate(work, 1); }); });
}

}  // namespace strata::npb::mz
