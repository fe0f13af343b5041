// The kernels of noise, peak and cache bandwidth.
#include <array>
#include <vector>

#include "benchmarks/common/buffer.hpp"
#include "benchmarks/common/random.hpp"
#include "benchmarks/machine/units.hpp"
#include "benchmarks/machine/work.hpp"
#include "tests/catch.hpp"

using namespace strata::bench;
using namespace strata::bench::machine_measures;

TEST_CASE("a jump lands where the work walks to") {
    for (const std::uint64_t steps : {0U, 1U, 2U, 3U, 1000U, 262144U})
        CHECK(work(42, steps) == jump(42, steps));
    CHECK(jump(42, 5) ==
          (((((42 * kFactor + kAddend) * kFactor + kAddend) * kFactor + kAddend) * kFactor + kAddend) *
               kFactor +
           kAddend));
    CHECK(work(work(7, 100), 23) == jump(7, 123));
    CHECK(jump(7, 123) != jump(7, 122));
}

TEST_CASE("folding words in passes ends where the map taken by squaring says, and sees every word") {
    std::array<std::uint64_t, 37> words{};
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_bits(i, 5);
    for (const std::uint64_t passes : {0U, 1U, 2U, 3U, 100U})
        CHECK(fold(words, passes, 42) == folded(words, passes, 42));
    CHECK(fold(words, 7, fold(words, 4, 9)) == folded(words, 11, 9));
    const std::uint64_t whole = fold(words, 3, 0);
    for (std::uint64_t& word : words) {
        word ^= 1;
        CHECK(fold(words, 3, 0) != whole);
        word ^= 1;
    }
}

TEST_CASE("every chain and lane of the peak kernel gives the result of one multiply-add after the other") {
    struct alignas(64) {
        double x[kStates];
    } states;
    std::array<double, kStates> expected{};
    for (std::size_t i = 0; i < kStates; ++i) {
        states.x[i] = 1.5 + static_cast<double>(i);
        expected[i] = multiply_add_reference(states.x[i], 0.999, 0.001, 777);
    }
    multiply_add(states.x, 0.999, 0.001, 777);
    for (std::size_t i = 0; i < kStates; ++i) CHECK(states.x[i] == expected[i]);
    CHECK(multiply_add_reference(2.0, 0.5, 1.0, 1) == 2.0);
    CHECK(multiply_add_reference(4.0, 0.5, 1.0, 2) == 2.5);
}

TEST_CASE("the load kernel reads every word") {
    const Array<std::uint64_t> words(1024);
    std::uint64_t all = 0;
    for (std::size_t i = 0; i < words.size(); ++i) all ^= words[i] = random_bits(i);
    REQUIRE(load_all(words.span()) == all);
    for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] ^= 1U << (i % 31);
        CHECK(load_all(words.span()) != all);
        words[i] ^= 1U << (i % 31);
    }
}

TEST_CASE("random numbers are the same everywhere, in range, and differ with index and seed") {
    CHECK(random_bits(0) == 0xe220a8397b1dcdafU);  // SplitMix64 of seed 0, first value
    CHECK(random_bits(1) == 0x6e789e6aa1b965f4U);  // and second
    CHECK(random_bits(0, 1) != random_bits(0, 2));
    double sum = 0;
    for (std::uint64_t i = 0; i < 10000; ++i) {
        const double x = random_double(i, 3);
        REQUIRE(x >= -0.5);
        REQUIRE(x < 0.5);
        sum += x;
    }
    CHECK(std::abs(sum / 10000) < 0.02);
}
