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

std::int64_t Redistribution::planes_at_once(std::int64_t points, std::int64_t planes) {
    constexpr std::int64_t kBytes = std::int64_t{256} << 10;  // four of these fit into a core's second cache
    return std::clamp<std::int64_t>(planes * kBytes / std::max<std::int64_t>(16 * points, 1), 1, planes);
}

std::uint64_t Redistribution::bytes(std::int64_t points, std::int64_t planes) {
    return static_cast<std::uint64_t>(2 * 16 * points / planes * planes_at_once(points, planes));
}

Redistribution::Redistribution(const Pencils& pencils, Pencils::Along from, Pencils::Along to, Group& group)
    : group_(group) {
    const Box source = pencils.box(from, group.rank()), target = pencils.box(to, group.rank());
    if (source == target) return;
    const auto common = [](const Box& mine, const Box& other) {
        Box both;
        for (std::size_t d = 0; d < 3; ++d) {
            both.begin[d] = std::max(mine.begin[d], other.begin[d]) - mine.begin[d];
            both.end[d] = std::max(std::min(mine.end[d], other.end[d]) - mine.begin[d], both.begin[d]);
        }
        return both;
    };
    const auto points = [](const Box& box) { return box.extent(0) * box.extent(1) * box.extent(2); };
    for (int peer = 0; peer < group.size(); ++peer) {
        const Box to_peer = common(source, pencils.box(to, peer)),
                  from_peer = common(target, pencils.box(from, peer));
        // Who sends to this process also gets from it: both ways lead through the same row of processes.
        if (points(to_peer) == 0) continue;
        extent_ = {to_peer.extent(0), to_peer.extent(1), to_peer.extent(2)};
        if (peer == group.rank()) {
            kept_.push_back({to_peer, from_peer});
        } else {
            out_.push_back({peer, to_peer});
            in_.push_back({peer, from_peer});
        }
    }
    at_once_ = planes_at_once(points(source), extent_[2]);
    const auto size = 2 * static_cast<std::size_t>(at_once_ * extent_[0] * extent_[1]) * out_.size();
    out_memory_.resize(size);
    in_memory_.resize(size);
}

template <class Body>
void Redistribution::each_row(const std::vector<Piece>& pieces, std::int64_t begin, std::int64_t end,
                              Body&& body) {
    const std::int64_t width = extent_[0], height = extent_[1], rows = height * (end - begin);
    group_.each_part(
        static_cast<std::int64_t>(pieces.size()) * rows, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t r = first; r < last; ++r) {
                const std::int64_t piece = r / rows, y = r % rows % height, z = begin + r % rows / height;
                const auto& at = pieces[static_cast<std::size_t>(piece)].box.begin;
                body(std::array{at[0], at[1] + y, at[2] + z},
                     static_cast<std::size_t>((2 * piece * rows + r % rows) * width),
                     static_cast<std::size_t>(rows * width));
            }
        });
}

void Redistribution::run(const Field& from, const Field& to) {
    if (idle()) return;
    const std::int64_t width = extent_[0], height = extent_[1], depth = extent_[2];
    const auto bytes = static_cast<std::size_t>(width) * sizeof(double);
    for (const Kept& kept : kept_)
        group_.each_part(height * depth, [&](std::int64_t first, std::int64_t last) {
            const auto &a = kept.from.begin, &b = kept.to.begin;
            for (std::int64_t r = first; r < last; ++r) {
                const std::int64_t y = r % height, z = r / height;
                const auto source = from.at(a[0], a[1] + y, a[2] + z),
                           target = to.at(b[0], b[1] + y, b[2] + z);
                std::memcpy(to.re + target, from.re + source, bytes);
                std::memcpy(to.im + target, from.im + source, bytes);
            }
        });
    for (std::int64_t z = 0; z < depth && !out_.empty(); z += at_once_) {
        const std::int64_t end = std::min(z + at_once_, depth);
        each_row(out_, z, end, [&](const auto& at, std::size_t place, std::size_t imaginary) {
            const auto source = from.at(at[0], at[1], at[2]);
            std::memcpy(&out_memory_[place], from.re + source, bytes);
            std::memcpy(&out_memory_[place + imaginary], from.im + source, bytes);
        });
        shifts_.clear();
        const auto length = 2 * static_cast<std::size_t>((end - z) * height * width);
        for (std::size_t i = 0; i < out_.size(); ++i)
            shifts_.push_back({out_[i].peer, in_[i].peer,
                               std::as_bytes(std::span(&out_memory_[i * length], length)),
                               std::as_writable_bytes(std::span(&in_memory_[i * length], length))});
        group_.exchange(shifts_);
        each_row(in_, z, end, [&](const auto& at, std::size_t place, std::size_t imaginary) {
            const auto target = to.at(at[0], at[1], at[2]);
            std::memcpy(to.re + target, &in_memory_[place], bytes);
            std::memcpy(to.im + target, &in_memory_[place + imaginary], bytes);
        });
    }
}

}  // namespace strata::npb::ft
