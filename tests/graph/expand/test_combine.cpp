// Contributions to a field: each value is the sum of what its sources have, in their order, and nothing else
// changes.
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/base/error.hpp"
#include "core/graph/expand/calls/calls.hpp"
#include "tests/catch.hpp"

using namespace strata::graph;

namespace {

int pick(std::mt19937_64& random, int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
}

/// A field's memory with gaps between rows, planes and components.
template <class T>
struct Memory {
    Memory(std::mt19937_64& random, const Int3& extent, int components, std::int64_t before) : first(before) {
        row = extent[0] + pick(random, 0, 3);
        plane = row * extent[1] + pick(random, 0, 5);
        component = plane * extent[2] + pick(random, 0, 7);
        values.resize(static_cast<std::size_t>(first + component * components + 9));
        for (T& value : values) value = static_cast<T>(pick(random, -1000, 1000)) / static_cast<T>(3);
    }
    [[nodiscard]] std::size_t at(const Int3& i, int c) const {
        return static_cast<std::size_t>(first + i[0] + i[1] * row + i[2] * plane + c * component);
    }
    /// Where a box lies that begins at `at` in x.
    [[nodiscard]] SumRows::BoxOrigin offset(std::int64_t at) const { return {at, {row, plane, component}}; }
    std::int64_t first, row = 0, plane = 0, component = 0;
    std::vector<T> values;
};

template <class T>
void check(Element element, std::mt19937_64& random) {
    for (int round = 0; round < 300; ++round) {
        const int components = pick(random, 1, 4), regions = pick(random, 1, 3);
        const Int3 extent{pick(random, 1, 12), pick(random, 1, 5), pick(random, 1, 3)};
        const Int3 all{extent[0] * regions, extent[1], extent[2]};
        Memory<T> to(random, all, components, 3);
        std::vector<Memory<T>> from;
        for (int p = 0; p < 10; ++p) from.emplace_back(random, all, components, pick(random, 0, 9));
        std::vector<std::byte*> bases;
        for (Memory<T>& each : from)
            bases.push_back(reinterpret_cast<std::byte*>(each.values.data() + each.first));
        if (round % 3 == 0)  // one of them is the target itself
            bases.back() = reinterpret_cast<std::byte*>(to.values.data() + to.first);
        const auto source = [&](int s) -> const Memory<T>& {
            return round % 3 == 0 && s == 9 ? to : from[static_cast<std::size_t>(s)];
        };
        SumRows rows;
        std::vector<T> expected = to.values;
        for (int r = 0; r < regions; ++r) {
            const std::int64_t at = std::int64_t{r} * extent[0];
            const int count = pick(random, 0, 9);
            std::vector<int> chosen;
            std::vector<std::pair<std::uint32_t, SumRows::BoxOrigin>> boxes;
            for (int s = 0; s < count; ++s) {
                chosen.push_back(pick(random, 0, 9));
                boxes.emplace_back(static_cast<std::uint32_t>(chosen.back()),
                                   source(chosen.back()).offset(at));
            }
            rows.add(extent, components, to.offset(at), boxes);
            for (int c = 0; c < components; ++c)
                for (int k = 0; k < extent[2]; ++k)
                    for (int j = 0; j < extent[1]; ++j)
                        for (int i = 0; i < extent[0]; ++i) {
                            const Int3 offset{r * extent[0] + i, j, k};
                            T sum{};
                            for (const int s : chosen) {
                                const Memory<T>& of = source(s);
                                sum = static_cast<T>(sum + of.values[of.at(offset, c)]);
                            }
                            expected[to.at(offset, c)] = sum;
                        }
        }
        add_regions(element)(rows, reinterpret_cast<std::byte*>(to.values.data() + to.first), bases.data());
        CHECK(std::memcmp(to.values.data(), expected.data(), expected.size() * sizeof(T)) == 0);
    }
}

}  // namespace

TEST_CASE("contributions are added in the type of the values, in their order") {
    std::mt19937_64 random(33);
    check<double>(Element::f64, random);
    check<float>(Element::f32, random);
    check<std::int64_t>(Element::i64, random);
    check<std::int32_t>(Element::i32, random);
    CHECK_THROWS_AS(add_regions(Element::u8), strata::Error);
    CHECK_THROWS_AS(add_regions(Element::bytes), strata::Error);
}

TEST_CASE("contributions that are whole numbers wrap around") {
    std::int32_t values[2] = {std::numeric_limits<std::int32_t>::max(), 1}, sum = 0;
    SumRows rows;
    rows.add({1, 1, 1}, 1, {}, {{0, {0, {}}}, {0, {1, {}}}});
    std::byte* base = reinterpret_cast<std::byte*>(values);
    add_regions(Element::i32)(rows, reinterpret_cast<std::byte*>(&sum), &base);
    CHECK(sum == std::numeric_limits<std::int32_t>::min());
}

TEST_CASE("sums of contributions to a patch that is too large are refused") {
    SumRows rows;
    try {
        rows.add({1, 1, 2}, 1, {}, {{0, {0, {0, std::int64_t{1} << 31, 0}}}});
        FAIL("it was taken");
    } catch (const strata::Error& error) {
        CHECK(error.message() == "a patch is too large for sums of contributions");
        CHECK(error.given() == "2147483648 values from its first to another");
    }
}
