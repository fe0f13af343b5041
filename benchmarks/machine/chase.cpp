#include "benchmarks/machine/chase.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "benchmarks/common/random.hpp"

namespace strata::bench::machine_measures {
namespace {

inline const void* next(const void* line) { return *static_cast<const void* const*>(line); }

}  // namespace

Order::Order(std::size_t count, std::uint64_t seed) : count_(count) {
    const unsigned bits = std::max(2U, static_cast<unsigned>(std::bit_width(count - 1)));
    mask_ = (std::size_t{1} << bits) - 1;
    shift_ = (bits + 1) / 2;
    for (std::uint64_t i = 0; i < 4; ++i) factors_[i] = random_bits(i, seed) | 1U;
    addend_ = random_bits(4, seed);
}

void link_lines(std::span<std::byte> memory, std::size_t line_bytes, const Order& order) {
    std::byte* const base = memory.data();
    std::byte* line = base + order(0) * line_bytes;
    std::byte* const first = line;
    for (std::size_t position = 1; position < order.size(); ++position) {
        std::byte* const following = base + order(position) * line_bytes;
        *reinterpret_cast<void**>(line) = following;
        line = following;
    }
    *reinterpret_cast<void**>(line) = first;
}

const void* chase(const void* from, std::size_t steps) noexcept {
    std::size_t i = 0;
    for (; i + 16 <= steps; i += 16) {
#pragma GCC unroll 16
        for (int k = 0; k < 16; ++k) from = next(from);
    }
    for (; i < steps; ++i) from = next(from);
    return from;
}

bool visits_every_line_once(std::span<const std::byte> memory, std::size_t line_bytes, const Order& order) {
    // Walkers start at equal distances along the chain. When each ends where the following one started, the
    // walk of `count` steps is closed; when none came upon the first line before the end, its period is
    // `count`.
    constexpr std::size_t kWalkers = 16;
    const std::size_t count = order.size();
    const auto line = [&](std::size_t position) -> const void* {
        return memory.data() + order(position % count) * line_bytes;
    };
    std::array<const void*, kWalkers> at{};
    std::array<std::size_t, kWalkers + 1> start{};
    for (std::size_t w = 0; w <= kWalkers; ++w) start[w] = count * w / kWalkers;
    for (std::size_t w = 0; w < kWalkers; ++w) at[w] = line(start[w]);
    const void* const first = line(0);
    std::size_t returns = 0;
    const std::size_t together = count / kWalkers;
    for (std::size_t i = 0; i < together; ++i) {
        for (std::size_t w = 0; w < kWalkers; ++w) {
            at[w] = next(at[w]);
            returns += at[w] == first;
        }
    }
    bool closed = true;
    for (std::size_t w = 0; w < kWalkers; ++w) {
        for (std::size_t i = start[w] + together; i < start[w + 1]; ++i) {
            at[w] = next(at[w]);
            returns += at[w] == first;
        }
        closed = closed && at[w] == line(start[w + 1]);
    }
    return closed && returns == 1;
}

}  // namespace strata::bench::machine_measures
