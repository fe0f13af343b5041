// The chain of the latency measurement.
#include <algorithm>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/machine/chase.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;
using namespace strata::bench::machine_measures;

namespace {

constexpr std::size_t kLine = 64;

void*& word(const Array<std::byte>& memory, std::size_t line) {
    return *reinterpret_cast<void**>(memory.data() + line * kLine);
}

}  // namespace

TEST_CASE("an order reaches each line once, whatever their number") {
    for (const std::size_t count :
         {std::size_t{4}, std::size_t{5}, std::size_t{256}, std::size_t{1000}, std::size_t{65537}}) {
        const Order order(count, count);
        std::vector<int> reached(count, 0);
        for (std::size_t position = 0; position < count; ++position) {
            REQUIRE(order(position) < count);
            ++reached[order(position)];
        }
        CHECK(std::all_of(reached.begin(), reached.end(), [](int times) { return times == 1; }));
    }
}

TEST_CASE("an order has no stride that a prefetcher could follow") {
    const Order order(16384, 1);
    std::vector<long> strides;
    for (std::size_t position = 0; position + 1 < order.size(); ++position)
        strides.push_back(static_cast<long>(order(position + 1)) - static_cast<long>(order(position)));
    std::sort(strides.begin(), strides.end());
    long same = 0, most = 0;
    for (std::size_t i = 1; i < strides.size(); ++i) {
        same = strides[i] == strides[i - 1] ? same + 1 : 0;
        most = std::max(most, same);
    }
    CHECK(most < 20);  // of 16,383 steps
}

TEST_CASE("a linked chain visits every line exactly once and returns") {
    for (const std::size_t count : {std::size_t{256}, std::size_t{1001}, std::size_t{40000}}) {
        const Array<std::byte> memory(count * kLine);
        const Order order(count, 7);
        link_lines(memory.span(), kLine, order);
        CHECK(visits_every_line_once(memory.span(), kLine, order));
        const void* const first = memory.data() + order(0) * kLine;
        CHECK(chase(first, count) == first);
        CHECK(chase(first, count - 1) == memory.data() + order(count - 1) * kLine);
    }
}

TEST_CASE("a chain that splits in two, or leaves a line out, is refused") {
    constexpr std::size_t count = 1000;
    const Array<std::byte> memory(count * kLine);
    const Order order(count, 7);
    link_lines(memory.span(), kLine, order);
    SECTION("two chains") { std::swap(word(memory, 3), word(memory, 700)); }
    SECTION("a line left out") {
        const std::size_t before = order(10);
        word(memory, before) = memory.data() + order(12) * kLine;
    }
    SECTION("a line that leads to itself") { word(memory, 5) = memory.data() + 5 * kLine; }
    CHECK_FALSE(visits_every_line_once(memory.span(), kLine, order));
}
