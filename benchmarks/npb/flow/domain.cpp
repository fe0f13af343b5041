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

}  // namespace

Domain::Domain(const Partition& partition, Group& group) : partition_(partition), group_(group) {
    std::size_t total = 0;
    for (const Index& place : partition_.cells()) {
        cells_.push_back({place, partition_.tile(place), {}, {}, {}});
        total += Field::doubles(cells_.back().tile.size);
        window_ = std::max(window_, Operator::doubles(cells_.back().tile.size));
    }
    const auto lay = [&](const char* name, Field Cell::*field) {
        double* memory = group.array<double>(name, total).data();
        for (Cell& cell : cells_) {
            cell.*field = Field::in(memory, cell.tile.size);
            memory += Field::doubles(cell.tile.size);
        }
    };
    lay("u", &Cell::u);
    lay("forcing", &Cell::forcing);
    lay("rhs", &Cell::rhs);
    const auto workers = static_cast<std::size_t>(group.workers());
    windows_ = group.array<double>("planes under work", window_ * workers);
    for (const Cell& cell : cells_)
        for (std::size_t w = 0; w < workers; ++w) operators_.emplace_back(cell.tile);
}

std::vector<Need> Domain::needs(const Partition& partition, int workers) {
    std::uint64_t total = 0, window = 0;
    for (const Index& place : partition.cells()) {
        const Index size = partition.tile(place).size;
        total += Field::doubles(size) * sizeof(double);
        window = std::max<std::uint64_t>(window, Operator::doubles(size) * sizeof(double));
    }
    return {{"solution", total},
            {"forcing", total},
            {"right-hand side", total},
            {"planes under work", window * static_cast<std::uint64_t>(workers)}};
}

Operator& Domain::sweep(std::size_t cell, int worker) {
    const auto w = static_cast<std::size_t>(worker);
    Operator& sweep = operators_[cell * static_cast<std::size_t>(group_.workers()) + w];
    sweep.begin(cells_[cell].u, windows_.data() + window_ * w);
    return sweep;
}

void Domain::fill(Values values) {
    group_.each([&](int worker, int workers) {
        for (const Cell& cell : cells_) {
            const Tile& t = cell.tile;
            const Share own(t.size[2], worker, workers);
            if (own.begin == own.end) continue;
            const std::int64_t from = own.begin - (own.begin == 0 ? Field::kLayers : 0);
            const std::int64_t to = own.end + (own.end == t.size[2] ? Field::kLayers : 0);
            for (std::int64_t z = from; z < to; ++z)
                for (std::int64_t y = -Field::kLayers; y < t.size[1] + Field::kLayers; ++y) {
                    // What lies beyond the grid is gas at rest: it has no weight, but is computed with.
                    for (int m = 0; m < kComponents; ++m)
                        std::fill_n(cell.u.at(y, z) + m * cell.u.row, cell.u.row - Field::kLayers,
                                    m == 0 || m == 4 ? 1.0 : 0.0);
                    for (std::int64_t x = -Field::kLayers; x < t.size[0] + Field::kLayers; ++x) {
                        const Index at = {t.begin[0] + x, t.begin[1] + y, t.begin[2] + z};
                        bool within = true;
                        for (std::size_t d = 0; d < 3; ++d) within = within && at[d] >= 0 && at[d] < t.n[d];
                        const State s = within ? values(at, t.n) : State{1, 0, 0, 0, 1};
                        for (int m = 0; m < kComponents; ++m)
                            cell.u.at(m, x, y, z) = s[static_cast<std::size_t>(m)];
                    }
                }
        }
    });
}

void Domain::begin() { fill(initial); }

void Domain::force() {
    fill(exact);
    group_.each([&](int worker, int workers) {
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            const Tile& t = cells_[c].tile;
            const Share own(t.last(2) - t.first(2), worker, workers);
            Operator& operate = sweep(c, worker);
            for (std::int64_t z = t.first(2) + own.begin; z < t.first(2) + own.end; ++z)
                operate.plane(z, {}, cells_[c].forcing, -1);
        }
    });
}

void Domain::evaluate(double factor) {
    group_.each([&](int worker, int workers) {
        for (std::size_t c = 0; c < cells_.size(); ++c) {
            const Tile& t = cells_[c].tile;
            const Share own(t.last(2) - t.first(2), worker, workers);
            Operator& operate = sweep(c, worker);
            for (std::int64_t z = t.first(2) + own.begin; z < t.first(2) + own.end; ++z)
                operate.plane(z, cells_[c].forcing, cells_[c].rhs, factor);
        }
    });
}

void Domain::exchange() {
    if (group_.size() == 1) return;
    // For each direction and way: what leaves on one side of a cell comes in on the other side of the next.
    const auto copy = [&](std::size_t face, bool out) {
        const std::size_t d = face / 2;
        const bool forward = face % 2 == 0;
        std::vector<double>& buffer = out ? faces_[face].out : faces_[face].in;
        const bool high = forward == out;  // the side of the cell
        std::size_t size = 0;
        std::vector<std::pair<const Cell*, Layers>> parts;
        for (const Cell& cell : cells_) {
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
    group_.exchange(shifts);
    for (std::size_t face = 0; face < 6; ++face) {
        if (partition_.cuts()[face / 2] == 1) continue;
        const auto parts = copy(face, false);
        double* message = faces_[face].in.data();
        for (const auto& [cell, layers] : parts) layers.copy(cell->u, message, false);
    }
}

State Domain::norm(const std::function<State(const Cell&, std::int64_t, std::int64_t, std::int64_t)>& value) {
    const auto sums = group_.sum_each<kComponents>([&](int worker, int workers) {
        State sum{};
        for (const Cell& cell : cells_) {
            const Tile& t = cell.tile;
            const Share own(t.last(2) - t.first(2), worker, workers);
            for (std::int64_t z = t.first(2) + own.begin; z < t.first(2) + own.end; ++z)
                for (std::int64_t y = t.first(1); y < t.last(1); ++y)
                    for (std::int64_t x = t.first(0); x < t.last(0); ++x) {
                        const State s = value(cell, x, y, z);
                        for (std::size_t m = 0; m < kComponents; ++m) sum[m] += s[m] * s[m];
                    }
        }
        return sum;
    });
    State norm{};
    const Index& n = cells_.front().tile.n;
    for (std::size_t m = 0; m < kComponents; ++m)
        norm[m] = std::sqrt(sums[m] / static_cast<double>((n[0] - 2) * (n[1] - 2) * (n[2] - 2)));
    return norm;
}

State Domain::error_norm() {
    return norm([](const Cell& cell, std::int64_t x, std::int64_t y, std::int64_t z) {
        const Tile& t = cell.tile;
        State s = exact({t.begin[0] + x, t.begin[1] + y, t.begin[2] + z}, t.n);
        for (int m = 0; m < kComponents; ++m)
            s[static_cast<std::size_t>(m)] = cell.u.at(m, x, y, z) - s[static_cast<std::size_t>(m)];
        return s;
    });
}

State Domain::rhs_norm() {
    return norm([](const Cell& cell, std::int64_t x, std::int64_t y, std::int64_t z) {
        State s{};
        for (int m = 0; m < kComponents; ++m) s[static_cast<std::size_t>(m)] = cell.rhs.at(m, x, y, z);
        return s;
    });
}

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
    std::vector<std::string> lines = {"component      residual's norm          error's norm"};
    for (std::size_t m = 0; m < kComponents; ++m)
        lines.push_back(fmt::format("{:9} {:20.13e}  {:20.13e}", m + 1, residual[m], error[m]));
    return lines;
}

}  // namespace strata::npb::flow
