// The pseudorandom numbers of the NAS Parallel Benchmarks.
#include <cmath>
#include <vector>

#include "benchmarks/npb/common/random.hpp"
#include "tests/catch.hpp"

using strata::npb::kSeed;
using strata::npb::Random;

namespace {

/// One step by the specification's own way: the factors are cut in two halves of 23 bits, so that no product
/// has more than 46 bits and doubles hold all of them exactly.
double step_in_halves(double& x) {
    constexpr double r23 = 0x1p-23, t23 = 0x1p23, r46 = 0x1p-46, t46 = 0x1p46, a = 1220703125.0;
    const double a1 = std::trunc(r23 * a), a2 = a - t23 * a1;
    const double x1 = std::trunc(r23 * x), x2 = x - t23 * x1;
    const double cross = a1 * x2 + a2 * x1, z = cross - t23 * std::trunc(r23 * cross);
    const double sum = t23 * z + a2 * x2;
    x = sum - t46 * std::trunc(r46 * sum);
    return r46 * x;
}

}  // namespace

TEST_CASE("the sequence is that of the specification") {
    Random random(kSeed);
    double x = static_cast<double>(kSeed);
    for (int i = 0; i < 1000; ++i) REQUIRE(random.next() == step_in_halves(x));
}

TEST_CASE("any element is found without those before it") {
    Random random(kSeed);
    for (std::uint64_t n = 0; n < 300; ++n) {
        CHECK(Random(kSeed).after(n).state() == random.state());
        (void)random.next();
    }
    CHECK(Random(kSeed).after(std::uint64_t{1} << 44).state() == kSeed);  // its period
}

TEST_CASE("many numbers at once are the same numbers, and the sequence goes on after them") {
    for (const std::size_t count : {0U, 1U, 15U, 16U, 17U, 100U}) {
        Random one(kSeed), many(kSeed);
        std::vector<double> numbers(count + 1, -1);
        many.fill(numbers.data(), count);
        for (std::size_t i = 0; i < count; ++i) CHECK(numbers[i] == one.next());
        CHECK(numbers[count] == -1);
        CHECK(many.next() == one.next());
    }
}
