#include "benchmarks/npb/lu/waves.hpp"

#include <algorithm>

namespace strata::npb::lu {

using flow::Index;
using flow::Partition;

int Waves::blocks_of(const Partition& partition, int workers) {
    // So many in every process, so that all agree which step is whose: at least eight rows each.
    std::int64_t fewest = workers;
    for (std::int64_t y = 0; y < partition.cuts()[1]; ++y) {
        const flow::Tile t = partition.tile({0, y, 0});
        fewest = std::min(fewest, flow::round_up(t.last(1) - t.first(1)) / kLanes);
    }
    return static_cast<int>(std::max<std::int64_t>(fewest, 1));
}

Waves::Waves(flow::Domain& domain, double dt, Break fault)
    : partition_(domain.partition()),
      group_(domain.group()),
      cell_(domain.cells().front()),
      solve_(cell_, blocks_of(partition_, group_.workers()), dt, fault, group_, ""),
      scratch_(group_.array<double>("rows under work", Solve::scratch_doubles(cell_.tile.size) *
                                                           static_cast<std::size_t>(group_.workers()))) {}

std::vector<Need> Waves::needs(const Partition& partition, int workers) {
    const Index size = partition.tile(partition.cells().front()).size;
    const auto rows = Solve::scratch_doubles(size) * static_cast<std::uint64_t>(workers) * sizeof(double);
    return {{"rows under work", rows},
            {"rows and planes before", Solve::bytes(size, blocks_of(partition, workers))}};
}

void Waves::run() {
    sweep<1>();
    sweep<-1>();
}

template <int Way>
void Waves::sweep() {
    const Index &cuts = partition_.cuts(), &place = cell_.place;
    const std::int64_t planes = solve_.planes();
    const int blocks = solve_.blocks();
    // How many blocks are before this process's, along x and y.
    const std::int64_t before_x = Way > 0 ? place[0] : cuts[0] - 1 - place[0];
    const std::int64_t before_y = (Way > 0 ? place[1] : cuts[1] - 1 - place[1]) * blocks;
    const std::int64_t steps = planes + cuts[0] - 1 + cuts[1] * blocks - 1;
    group_.each([&](int worker, int workers) { solve_.clear(worker, workers, before_y == 0); });
    for (std::int64_t step = 0; step < steps; ++step) {
        group_.each([&](int worker, int) {
            const int block = Way > 0 ? worker : blocks - 1 - worker;  // in the order of the sweep
            if (worker >= blocks) return;
            const std::int64_t nth = step - before_x - before_y - block;
            if (nth >= 0 && nth < planes)
                solve_.plane<Way>(nth, block, step,
                                  scratch_.data() + Solve::scratch_doubles(cell_.tile.size) *
                                                        static_cast<std::size_t>(worker));
        });
        if (group_.size() > 1) hand_on<Way>(step);
    }
}

template <int Way>
void Waves::hand_on(std::int64_t step) {
    std::vector<Shift> shifts;
    // Nothing goes over the edge of the grid: messages there are empty.
    const auto shift = [&](std::size_t d, std::span<const double> out, std::span<double> in) {
        const Index& cuts = partition_.cuts();
        const bool low = cell_.place[d] == 0, high = cell_.place[d] + 1 == cuts[d];
        if ((Way > 0 ? high : low)) out = {};
        if ((Way > 0 ? low : high)) in = {};
        if (cuts[d] > 1)
            shifts.push_back({partition_.neighbour(d, Way), partition_.neighbour(d, -Way), std::as_bytes(out),
                              std::as_writable_bytes(in)});
    };
    shift(0, solve_.east(), solve_.west());
    shift(1, solve_.handed(solve_.blocks(), step), solve_.handed(0, step));
    group_.exchange(shifts);
}

}  // namespace strata::npb::lu
