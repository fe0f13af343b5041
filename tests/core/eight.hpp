// Eight doubles by name, for the tests of lanes.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

#include "core/lanes/lanes.hpp"
#include "tests/catch.hpp"

namespace strata::tests {

using Eight = std::array<double, kLanes>;

/// Of either sign and of many sizes; one of them is 0, -0 or 1.
inline Eight values(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> mantissa(-2, 2);
    std::uniform_int_distribution<int> exponent(-40, 40);
    Eight x;
    for (double& v : x) v = std::ldexp(mantissa(random), exponent(random));
    x[seed % kLanes] = seed % 3 == 0 ? 0.0 : seed % 3 == 1 ? -0.0 : 1.0;
    return x;
}
inline Lanes in(const Eight& x) { return read_lanes<Lanes>(x.data()); }

/// Whether each lane l has the bits of one(l).
template <class F>
void same(const Lanes& found, F&& one) {
    Eight each;
    write_lanes(each.data(), found);
    for (std::size_t l = 0; l < kLanes; ++l)
        CHECK(std::bit_cast<std::uint64_t>(each[l]) ==
              std::bit_cast<std::uint64_t>(static_cast<double>(one(l))));
}

}  // namespace strata::tests
