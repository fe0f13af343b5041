#include "benchmarks/npb/ft/pencils.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "benchmarks/npb/common/benchmark.hpp"
#include "core/base/error.hpp"

namespace strata::npb::ft {

Pencils::Pencils(const std::array<std::int64_t, 3>& n, int processes) : n_(n) {
    power_of_two(processes);
    while (4 * first_ * first_ <= processes) first_ *= 2;
    second_ = processes / first_;
    if (first_ > std::min(n[0], n[1]) || second_ > std::min(n[1], n[2]))
        throw Error("there are more processes than this class can be divided over")
            .given(std::to_string(processes))
            .allowed(fmt::format("{} x {} pencils", std::min(n[0], n[1]), std::min(n[1], n[2])))
            .remedy("a larger class, or fewer processes");
}

Box Pencils::box(Along along, int rank) const {
    const int i = rank % first_, j = rank / first_;
    Box box{{}, n_};
    const auto cut = [&](std::size_t d, int part, int parts) {
        box.begin[d] = share_begin(n_[d], part, parts);
        box.end[d] = share_begin(n_[d], part + 1, parts);
    };
    cut(along == x ? y : x, i, first_);
    cut(along == z ? y : z, j, second_);
    return box;
}

Redistribution::Redistribution(const Pencils& pencils, Pencils::Along from, Pencils::Along to, Group& group)
    : group_(group) {
    const Box source = pencils.box(from, group.rank()), target = pencils.box(to, group.rank());
    if (source == target) return;
    const auto pieces = [&](const Box& mine, Pencils::Along theirs, std::vector<Piece>& found) {
        std::size_t offset = 0;
        for (int peer = 0; peer < group.size(); ++peer) {
            const Box other = pencils.box(theirs, peer);
            Box both;
            std::int64_t points = 1;
            for (std::size_t d = 0; d < 3; ++d) {
                both.begin[d] = std::max(mine.begin[d], other.begin[d]) - mine.begin[d];
                both.end[d] = std::min(mine.end[d], other.end[d]) - mine.begin[d];
                points *= std::max<std::int64_t>(both.extent(d), 0);
            }
            if (points == 0) continue;
            found.push_back({peer, both, offset, static_cast<std::size_t>(points)});
            offset += 2 * static_cast<std::size_t>(points);
        }
        return offset;
    };
    out_memory_.resize(pieces(source, to, out_));
    in_memory_.resize(pieces(target, from, in_));
    // Who sends to this process also gets from it: both ways lead through the same row of processes.
    for (std::size_t i = 0; i < out_.size(); ++i)
        shifts_.push_back({out_[i].peer, in_[i].peer,
                           std::as_bytes(std::span(&out_memory_[out_[i].offset], 2 * out_[i].points)),
                           std::as_writable_bytes(std::span(&in_memory_[in_[i].offset], 2 * in_[i].points))});
}

template <class Body>
void Redistribution::each_row(const std::vector<Piece>& pieces, Body&& body) {
    for (const Piece& piece : pieces)
        group_.each_part(piece.box.extent(2), [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t width = piece.box.extent(0), height = piece.box.extent(1);
            for (std::int64_t z = begin; z < end; ++z)
                for (std::int64_t y = 0; y < height; ++y)
                    body(piece.box.begin[0], piece.box.begin[1] + y, piece.box.begin[2] + z, width,
                         piece.offset + static_cast<std::size_t>((z * height + y) * width), piece.points);
        });
}

void Redistribution::run(const Field& from, const Field& to) {
    if (idle()) return;
    each_row(out_, [&](auto x, auto y, auto z, auto width, std::size_t at, std::size_t imaginary) {
        const auto bytes = static_cast<std::size_t>(width) * sizeof(double);
        std::memcpy(&out_memory_[at], from.re + from.at(x, y, z), bytes);
        std::memcpy(&out_memory_[at + imaginary], from.im + from.at(x, y, z), bytes);
    });
    group_.exchange(shifts_);
    each_row(in_, [&](auto x, auto y, auto z, auto width, std::size_t at, std::size_t imaginary) {
        const auto bytes = static_cast<std::size_t>(width) * sizeof(double);
        std::memcpy(to.re + to.at(x, y, z), &in_memory_[at], bytes);
        std::memcpy(to.im + to.at(x, y, z), &in_memory_[at + imaginary], bytes);
    });
}

}  // namespace strata::npb::ft
