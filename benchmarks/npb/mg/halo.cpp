#include "benchmarks/npb/mg/halo.hpp"

#include <cstring>

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::mg {
namespace {

constexpr int kSlabs = 8;

}  // namespace

Grid::Grid(int rank, int processes) {
    int left = power_of_two(processes), axis = 2;
    // Slabs of whole planes have two neighbours, messages without copies, and can be swept; up to eight of
    // them have about as much surface as blocks.
    if (left <= kSlabs) {
        counts_[2] = left;
        left = 1;
    }
    // Whole planes, then whole rows, stay together for as long as that is no worse.
    for (; left > 1; left /= 2, axis = axis == 0 ? 2 : axis - 1) counts_[static_cast<std::size_t>(axis)] *= 2;
    place_ = place_of(rank, counts_);
}

std::array<int, 3> Grid::place_of(int rank, const std::array<int, 3>& counts) {
    return {rank % counts[0], rank / counts[0] % counts[1], rank / (counts[0] * counts[1])};
}

int Grid::neighbour(int axis, int step) const {
    std::array<int, 3> at = place_;
    const auto a = static_cast<std::size_t>(axis);
    at[a] = (at[a] + step + counts_[a]) % counts_[a];
    return at[0] + counts_[0] * (at[1] + counts_[1] * at[2]);
}

void Halo::along_x(const Field& f, Group& group) {
    if (grid_.counts()[0] == 1) {
        group.each_part(f.nz, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t z = begin; z < end; ++z)
                for (std::int64_t y = 0; y < f.ny; ++y) {
                    double* row = f.plane(z).at(y);
                    row[-1] = row[f.nx - 1];
                    row[f.nx] = row[0];
                }
        });
        return;
    }
    const auto points = static_cast<std::size_t>(f.ny * f.nz);
    for (auto& buffer : {&out_[0], &out_[1], &in_[0], &in_[1]}) buffer->resize(points);
    const auto each = [&](auto&& what) {
        group.each_part(f.nz, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t z = begin; z < end; ++z)
                for (std::int64_t y = 0; y < f.ny; ++y)
                    what(f.plane(z).at(y), static_cast<std::size_t>(z * f.ny + y));
        });
    };
    each([&](const double* row, std::size_t i) {
        out_[0][i] = row[0];
        out_[1][i] = row[f.nx - 1];
    });
    const int left = grid_.neighbour(0, -1), right = grid_.neighbour(0, 1);
    const Shift shifts[] = {
        {left, right, std::as_bytes(std::span(out_[0])), std::as_writable_bytes(std::span(in_[1]))},
        {right, left, std::as_bytes(std::span(out_[1])), std::as_writable_bytes(std::span(in_[0]))}};
    group.exchange(shifts);
    each([&](double* row, std::size_t i) {
        row[-1] = in_[0][i];
        row[f.nx] = in_[1][i];
    });
}

void Halo::along_y(const Field& f, Group& group) {
    const auto length = static_cast<std::size_t>(f.nx + 2);
    if (grid_.counts()[1] == 1) {
        group.each_part(f.nz, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t z = begin; z < end; ++z) {
                const Plane p = f.plane(z);
                std::memcpy(p.at(-1) - 1, p.at(f.ny - 1) - 1, length * sizeof(double));
                std::memcpy(p.at(f.ny) - 1, p.at(0) - 1, length * sizeof(double));
            }
        });
        return;
    }
    for (auto& buffer : {&out_[0], &out_[1], &in_[0], &in_[1]})
        buffer->resize(length * static_cast<std::size_t>(f.nz));
    const auto each = [&](auto&& what) {
        group.each_part(f.nz, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t z = begin; z < end; ++z) what(f.plane(z), static_cast<std::size_t>(z) * length);
        });
    };
    const auto bytes = length * sizeof(double);
    each([&](Plane p, std::size_t i) {
        std::memcpy(&out_[0][i], p.at(0) - 1, bytes);
        std::memcpy(&out_[1][i], p.at(f.ny - 1) - 1, bytes);
    });
    const int south = grid_.neighbour(1, -1), north = grid_.neighbour(1, 1);
    const Shift shifts[] = {
        {south, north, std::as_bytes(std::span(out_[0])), std::as_writable_bytes(std::span(in_[1]))},
        {north, south, std::as_bytes(std::span(out_[1])), std::as_writable_bytes(std::span(in_[0]))}};
    group.exchange(shifts);
    each([&](Plane p, std::size_t i) {
        std::memcpy(p.at(-1) - 1, &in_[0][i], bytes);
        std::memcpy(p.at(f.ny) - 1, &in_[1][i], bytes);
    });
}

void Halo::exchange_planes(const Field& f, Group& group) {
    // A plane with what is around it is one piece of memory.
    const auto piece = [&](std::int64_t z) { return f.plane(z).at(-1) - 1; };
    const std::ptrdiff_t length = f.row * (f.ny + 1) + f.nx + 2;
    if (grid_.counts()[2] == 1) {
        group.each_part(length, [&](std::int64_t begin, std::int64_t end) {
            const auto bytes = static_cast<std::size_t>(end - begin) * sizeof(double);
            std::memcpy(piece(-1) + begin, piece(f.nz - 1) + begin, bytes);
            std::memcpy(piece(f.nz) + begin, piece(0) + begin, bytes);
        });
        return;
    }
    const auto view = [&](std::int64_t z) { return std::span(piece(z), static_cast<std::size_t>(length)); };
    exchange_planes(view(0), view(f.nz - 1), view(-1), view(f.nz), group);
}

void Halo::exchange_planes(std::span<const double> down, std::span<const double> up,
                           std::span<double> from_below, std::span<double> from_above, Group& group) {
    const int below = grid_.neighbour(2, -1), above = grid_.neighbour(2, 1);
    const Shift shifts[] = {{below, above, std::as_bytes(down), std::as_writable_bytes(from_above)},
                            {above, below, std::as_bytes(up), std::as_writable_bytes(from_below)}};
    group.exchange(shifts);
}

void Halo::exchange(const Field& field, Group& group) {
    along_x(field, group);
    along_y(field, group);
    exchange_planes(field, group);
}

}  // namespace strata::npb::mg
