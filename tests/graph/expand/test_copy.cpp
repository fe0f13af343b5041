#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/memory/copy.hpp"
#include "tests/catch.hpp"
#include "tests/graph/declare/grids.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

/// An array of `components` boxes with padding after rows, planes and components.
struct Array {
    Int3 size;
    Strides strides;
    std::uint32_t bytes;
    std::vector<std::byte> memory;

    Array(std::mt19937_64& random, const Int3& size_, std::uint32_t bytes_, int components)
        : size(size_), bytes(bytes_) {
        const bool gaps = pick(random, 0, 2) > 0;
        const auto gap = [&] { return std::int64_t{bytes} * (gaps ? pick(random, 0, 3) : 0); };
        strides.row = std::int64_t{size[0]} * bytes + gap();
        strides.plane = strides.row * size[1] + gap();
        strides.component = strides.plane * size[2] + gap();
        memory.resize(static_cast<std::size_t>(strides.component * components));
        for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
    }
    [[nodiscard]] std::int64_t at(const Int3& i, int component) const {
        return i[0] * std::int64_t{bytes} + i[1] * strides.row + i[2] * strides.plane +
               component * strides.component;
    }
};

struct Pair {
    Array from, to;
    Int3 first_from{}, first_to{};
    BoxCopy copy;
};

Pair any_pair(std::mt19937_64& random, std::uint32_t bytes, int thin) {
    Int3 extent{pick(random, 1, 21), pick(random, 1, 9), pick(random, 1, 7)};
    if (thin < 3) extent[static_cast<std::size_t>(thin)] = pick(random, 1, 3);
    const int components = pick(random, 1, 3);
    const auto around = [&] { return plus(extent, any_width(random, pick(random, 0, 1) * 4)); };
    Pair pair{
        Array(random, around(), bytes, components), Array(random, around(), bytes, components), {}, {}, {}};
    for (std::size_t a = 0; a < 3; ++a) {
        pair.first_from[a] = pick(random, 0, pair.from.size[a] - extent[a]);
        pair.first_to[a] = pick(random, 0, pair.to.size[a] - extent[a]);
    }
    pair.copy = {pair.to.memory.data() + pair.to.at(pair.first_to, 0),
                 pair.from.memory.data() + pair.from.at(pair.first_from, 0),
                 pair.to.strides,
                 pair.from.strides,
                 extent,
                 components,
                 bytes};
    return pair;
}

/// What should be there, value by value: `combine(there, comes)` within the box, what was there elsewhere.
template <class Combine>
std::vector<std::byte> expected(const Pair& pair, Combine combine) {
    std::vector<std::byte> memory = pair.to.memory;
    for (int c = 0; c < pair.copy.components; ++c)
        each_index({{0, 0, 0}, pair.copy.extent}, [&](const Int3& i) {
            combine(memory.data() + pair.to.at(plus(pair.first_to, i), c),
                    pair.from.memory.data() + pair.from.at(plus(pair.first_from, i), c));
        });
    return memory;
}

}  // namespace

TEST_CASE("a box of any shape and element is copied, and nothing beside it") {
    std::mt19937_64 random(31);
    for (int round = 0; round < 3000; ++round) {
        const auto bytes =
            static_cast<std::uint32_t>(round % 3 == 0 ? pick(random, 1, 40) : 8 >> (round % 4));
        Pair pair = any_pair(random, bytes, round % 5);
        const auto after =
            expected(pair, [&](std::byte* to, const std::byte* from) { std::memcpy(to, from, bytes); });
        copy_box(pair.copy);
        CHECK(pair.to.memory == after);
    }
}

TEST_CASE("a packed box is contiguous, x fastest, and comes out as it went in") {
    std::mt19937_64 random(32);
    for (int round = 0; round < 500; ++round) {
        const auto bytes = static_cast<std::uint32_t>(round % 2 == 0 ? 8 : pick(random, 1, 24));
        Pair pair = any_pair(random, bytes, round % 5);
        std::vector<std::byte> message(static_cast<std::size_t>(pair.copy.volume()) + 5, std::byte{77});
        std::byte* const begin = message.data() + 3;  // any alignment
        std::byte* const end = pack_box(pair.copy, begin);
        REQUIRE(end - begin == pair.copy.volume());
        const std::byte* next = begin;
        bool same = message[2] == std::byte{77} && *end == std::byte{77};
        for (int c = 0; c < pair.copy.components; ++c)
            each_index({{0, 0, 0}, pair.copy.extent}, [&](const Int3& i) {
                const std::byte* value = pair.from.memory.data() + pair.from.at(plus(pair.first_from, i), c);
                same = same && std::memcmp(next, value, bytes) == 0;
                next += bytes;
            });
        CHECK(same);
        const auto after =
            expected(pair, [&](std::byte* to, const std::byte* from) { std::memcpy(to, from, bytes); });
        CHECK(unpack_box(pair.copy, begin) == end);
        CHECK(pair.to.memory == after);
    }
}

TEST_CASE("an empty box copies nothing") {
    std::byte there{1};
    for (std::size_t a = 0; a < 3; ++a) {
        BoxCopy copy{&there, nullptr, {}, {}, {1, 1, 1}, 1, 8};
        copy.extent[a] = 0;
        copy_box(copy);
    }
    CHECK(there == std::byte{1});
}

TEST_CASE("a box with turned axes is copied, and nothing beside it") {
    std::mt19937_64 random(33);
    for (int round = 0; round < 1000; ++round) {
        const auto bytes =
            static_cast<std::uint32_t>(round % 3 == 0 ? pick(random, 1, 40) : 8 >> (round % 4));
        Pair pair = any_pair(random, bytes, round % 5);
        // A box of the same extents along turned axes, at the lowest place of an array that is large enough.
        IndexMap map{{}, {}};
        std::array<int, 3> axes{1, 2, 3};
        std::shuffle(axes.begin(), axes.end(), random);
        for (std::size_t a = 0; a < 3; ++a)
            map.axes[a] = static_cast<std::int8_t>(pick(random, 0, 1) == 0 ? axes[a] : -axes[a]);
        const Box there{{0, 0, 0}, pair.copy.extent}, lies = map(there);
        for (std::size_t a = 0; a < 3; ++a) map.shift[a] = -lies.lo[a];
        const Box here = map(there);
        Array to(random, plus(here.hi, any_width(random, 2)), bytes, pair.copy.components);
        std::vector<std::byte> after = to.memory;
        for (int c = 0; c < pair.copy.components; ++c)
            each_index(there, [&](const Int3& i) {
                std::memcpy(after.data() + to.at(map(i), c),
                            pair.from.memory.data() + pair.from.at(plus(pair.first_from, i), c), bytes);
            });
        BoxCopy copy = pair.copy;
        copy.extent = here.hi;
        copy.to = to.memory.data(), copy.to_strides = to.strides;
        copy.from = pair.from.memory.data() + pair.from.at(plus(pair.first_from, map.inverse()(Int3{})), 0);
        turn(copy, map);
        copy_box(copy);
        CHECK(to.memory == after);
    }
}
