#include "benchmarks/npb/flow/domain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace strata::npb::flow {
namespace {

/// The points that go to, or come from, a neighbour: two layers of the cell on one side.
struct Layers {
    Index begin{}, end{};

    Layers(const Tile& tile, std::size_t direction, bool forward, bool outside) : end(tile.size) {
        const std::int64_t size = tile.size[direction], layers = Field::kLayers;
        begin[direction] = forward ? (outside ? size : size - layers) : (outside ? -layers : 0);
        end[direction] = begin[direction] + layers;
    }
    [[nodiscard]] std::size_t doubles() const {
        std::int64_t points = kComponents;
        for (std::size_t d = 0; d < 3; ++d) points *= end[d] - begin[d];
        return static_cast<std::size_t>(points);
    }
    /// Copies them to or from a message, and moves on in it.
    void copy(const Field& u, double*& message, bool out) const {
        const std::int64_t width = end[0] - begin[0];
        for (std::int64_t z = begin[2]; z < end[2]; ++z)
            for (std::int64_t y = begin[1]; y < end[1]; ++y)
                for (int m = 0; m < kComponents; ++m, message += width) {
                    double* row = &u.at(m, begin[0], y, z);
                    if (out)
                        std::copy_n(row, width, message);
                    else
                        std::copy_n(message, width, row);
                }
    }
};

std::vector<Cell> cells_of(const Partition& partition) {
    std::vector<Cell> cells;
    for (const Index& place : partition.cells()) cells.push_back({place, partition.tile(place), {}, {}, {}});
    return cells;
}

}  // namespace

Domain::Domain(const Partition& partition, Group& group)
    : Cells(cells_of(partition), Division::even(partition.tiles(), group.workers()), group),
      partition_(partition) {}

void Domain::exchange() {
    if (group().size() == 1) return;
    // For each direction and way: what leaves on one side of a cell comes in on the other side of the next.
    const auto copy = [&](std::size_t face, bool out) {
        const std::size_t d = face / 2;
        const bool forward = face % 2 == 0;
        std::vector<double>& buffer = out ? faces_[face].out : faces_[face].in;
        const bool high = forward == out;  // the side of the cell
        std::size_t size = 0;
        std::vector<std::pair<const Cell*, Layers>> parts;
        for (const Cell& cell : cells()) {
            if (high ? cell.place[d] + 1 == partition_.cuts()[d] : cell.place[d] == 0) continue;
            parts.emplace_back(&cell, Layers(cell.tile, d, high, !out));
            size += parts.back().second.doubles();
        }
        buffer.resize(size);
        return parts;
    };
    std::vector<Shift> shifts;
    for (std::size_t face = 0; face < 6; ++face) {
        const std::size_t d = face / 2;
        if (partition_.cuts()[d] == 1) continue;
        double* message = nullptr;
        const auto parts = copy(face, true);
        message = faces_[face].out.data();
        for (const auto& [cell, layers] : parts) layers.copy(cell->u, message, true);
        (void)copy(face, false);
        const int step = face % 2 == 0 ? 1 : -1;
        shifts.push_back({partition_.neighbour(d, step), partition_.neighbour(d, -step),
                          std::as_bytes(std::span(faces_[face].out)),
                          std::as_writable_bytes(std::span(faces_[face].in))});
    }
    group().exchange(shifts);
    for (std::size_t face = 0; face < 6; ++face) {
        if (partition_.cuts()[face / 2] == 1) continue;
        const auto parts = copy(face, false);
        double* message = faces_[face].in.data();
        for (const auto& [cell, layers] : parts) layers.copy(cell->u, message, false);
    }
}

State Domain::norm(const std::vector<State>& sums) const {
    State total{};
    for (const State& sum : sums)
        for (std::size_t m = 0; m < kComponents; ++m) total[m] += sum[m];
    group().sum(total);
    return root_mean_square(total, cells().front().tile.n);
}

State root_mean_square(State sums, const Index& n) {
    for (double& value : sums)
        value = std::sqrt(value / static_cast<double>((n[0] - 2) * (n[1] - 2) * (n[2] - 2)));
    return sums;
}

std::string Problem::size_text() const { return fmt::format("{0:4}x{0:4}x{0:4}", points); }

std::vector<Check> checks(const State& residual, const State& error, const Official& official) {
    constexpr double kLimit = 1e-8;
    std::vector<Check> list;
    for (std::size_t m = 0; m < kComponents; ++m)
        list.push_back(relative(fmt::format("relative error of the residual's norm, component {}", m + 1),
                                residual[m], official.residual[m], kLimit));
    for (std::size_t m = 0; m < kComponents; ++m)
        list.push_back(relative(fmt::format("relative error of the error's norm, component {}", m + 1),
                                error[m], official.error[m], kLimit));
    return list;
}

std::vector<std::string> norm_lines(const State& residual, const State& error) {
    std::vector<std::string> lines = {"component         residual's norm             error's norm"};
    for (std::size_t m = 0; m < kComponents; ++m)
        lines.push_back(fmt::format("{:9} {:23.16e}  {:23.16e}", m + 1, residual[m], error[m]));
    return lines;
}

}  // namespace strata::npb::flow
