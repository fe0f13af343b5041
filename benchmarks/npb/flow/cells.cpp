#include "benchmarks/npb/flow/cells.hpp"

#include <algorithm>

namespace strata::npb::flow {
namespace {

constexpr std::size_t kSlot = 8;  // values of a part's sum, on a cache line of their own

}  // namespace

std::vector<Tile> tiles_of(std::span<const Cell> cells) {
    std::vector<Tile> tiles;
    for (const Cell& cell : cells) tiles.push_back(cell.tile);
    return tiles;
}

Cells::Cells(std::vector<Cell> cells, Division division, Group& group)
    : group_(group), cells_(std::move(cells)), division_(std::move(division)) {
    std::size_t total = 0;
    for (const Cell& cell : cells_) {
        total += Field::doubles(cell.tile.size);
        window_ = std::max(window_, Operator::doubles(cell.tile.size));
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
    windows_ = group.array<double>("planes under work", window_ * static_cast<std::size_t>(group.workers()));
    for (const Part& part : division_.parts()) operators_.emplace_back(cells_[part.cell].tile);
    sums_ = {group.array<double>("sums of parts 0", division_.parts().size() * kSlot),
             group.array<double>("sums of parts 1", division_.parts().size() * kSlot)};
}

std::vector<Need> Cells::needs(std::span<const Tile> tiles, int workers) {
    std::uint64_t total = 0, window = 0;
    for (const Tile& tile : tiles) {
        total += Field::doubles(tile.size) * sizeof(double);
        window = std::max<std::uint64_t>(window, Operator::doubles(tile.size) * sizeof(double));
    }
    return {{"solution", total},
            {"forcing", total},
            {"right-hand side", total},
            {"planes under work", window * static_cast<std::uint64_t>(workers)}};
}

State value_at(Values values, const Index& at, const Tile& t) {
    bool within = true;
    for (std::size_t d = 0; d < 3; ++d) within = within && at[d] >= 0 && at[d] < t.n[d];
    return within ? values(at, t) : State{1, 0, 0, 0, 1};
}

void fill(const Field& u, const Tile& t, std::int64_t from, std::int64_t to, Values values) {
    for (std::int64_t z = from; z < to; ++z)
        for (std::int64_t y = -Field::kLayers; y < t.size[1] + Field::kLayers; ++y) {
            for (int m = 0; m < kComponents; ++m)
                std::fill_n(u.at(y, z) + m * u.row, u.row - Field::kLayers, m == 0 || m == 4 ? 1.0 : 0.0);
            for (std::int64_t x = -Field::kLayers; x < t.size[0] + Field::kLayers; ++x) {
                const State s = value_at(values, {t.begin[0] + x, t.begin[1] + y, t.begin[2] + z}, t);
                for (int m = 0; m < kComponents; ++m) u.at(m, x, y, z) = s[static_cast<std::size_t>(m)];
            }
        }
}

State error_at(const Cell& cell, std::int64_t x, std::int64_t y, std::int64_t z) {
    const Tile& t = cell.tile;
    State s = exact({t.begin[0] + x, t.begin[1] + y, t.begin[2] + z}, t.scale);
    for (int m = 0; m < kComponents; ++m)
        s[static_cast<std::size_t>(m)] = cell.u.at(m, x, y, z) - s[static_cast<std::size_t>(m)];
    return s;
}

State rhs_at(const Cell& cell, std::int64_t x, std::int64_t y, std::int64_t z) {
    State s{};
    for (int m = 0; m < kComponents; ++m) s[static_cast<std::size_t>(m)] = cell.rhs.at(m, x, y, z);
    return s;
}

void Cells::fill(Values values) {
    each([&](const Work& work) {
        const Tile& t = work.cell.tile;
        const std::int64_t from = work.part.begin == 0 ? -Field::kLayers : t.first(2) + work.part.begin;
        const std::int64_t to =
            work.part.end == work.part.planes ? t.size[2] + Field::kLayers : t.first(2) + work.part.end;
        flow::fill(work.cell.u, t, from, to, values);
    });
}

void Cells::force() {
    fill(exact_values);
    each([](const Work& work) {
        const std::int64_t first = work.cell.tile.first(2);
        for (std::int64_t z = first + work.part.begin; z < first + work.part.end; ++z)
            work.operate.plane(z, {}, work.cell.forcing, -1);
    });
}

void evaluate(const Work& work, double factor) {
    const std::int64_t first = work.cell.tile.first(2);
    for (std::int64_t z = first + work.part.begin; z < first + work.part.end; ++z)
        work.operate.plane(z, work.cell.forcing, work.cell.rhs, factor);
}

void Cells::evaluate(double factor) {
    each([&](const Work& work) { flow::evaluate(work, factor); });
}

std::vector<State> Cells::sums(Over over, Value value) {
    second_ = !second_;
    double* slots = sums_[second_ ? 1 : 0].data();
    const bool all = over == Over::all;
    each([&](const Work& work) {
        const Tile& t = work.cell.tile;
        const Part& part = work.part;
        const std::int64_t from = all && part.begin == 0 ? 0 : t.first(2) + part.begin;
        const std::int64_t to = all && part.end == part.planes ? t.size[2] : t.first(2) + part.end;
        const State sum = sum_of_squares(work.cell, over, from, to, value);
        std::copy(sum.begin(), sum.end(),
                  slots + static_cast<std::size_t>(&part - division_.parts().data()) * kSlot);
    });
    std::vector<State> total(cells_.size());
    for (std::size_t i = 0; i < division_.parts().size(); ++i)
        for (std::size_t m = 0; m < kComponents; ++m)
            total[division_.parts()[i].cell][m] += slots[i * kSlot + m];
    return total;
}

std::vector<State> Cells::error_sums(Over over) { return sums(over, error_at); }

std::vector<State> Cells::rhs_sums() { return sums(Over::within, rhs_at); }

}  // namespace strata::npb::flow
