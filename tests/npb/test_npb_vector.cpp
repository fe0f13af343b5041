// Eight values at once, and the logarithm that EP takes of them.
#include <cmath>

#include "benchmarks/npb/common/vector.hpp"
#include "benchmarks/npb/ep/ep.hpp"
#include "benchmarks/npb/ep/logarithm.hpp"
#include "tests/catch.hpp"

using strata::npb::Vec;

TEST_CASE("the logarithm is right to a bit or two over the whole range of EP") {
    double worst = 0;
    for (int i = 0; i < 200000; ++i) {
        Vec x;
        for (int l = 0; l < strata::npb::kLanes; ++l)
            x[l] = std::exp2(-46.0 * (8 * i + l) / 1.6e6) * (l % 2 == 0 ? 1 : 0.99999);
        const Vec found = strata::npb::log(x);
        for (int l = 0; l < strata::npb::kLanes; ++l) {
            const double exact = std::log(x[l]);
            const double ulp = std::nextafter(std::abs(exact), INFINITY) - std::abs(exact);
            worst = std::max(worst, std::abs(found[l] - exact) / ulp);
        }
    }
    CHECK(worst <= 2);
    CHECK(strata::npb::log(strata::npb::broadcast(1.0))[3] == 0);
}

TEST_CASE("pairs give the same deviates whether taken together or in parts") {
    strata::npb::ep::Tally whole, parts;
    strata::npb::ep::tally_pairs(0, 4096, whole);
    strata::npb::ep::tally_pairs(0, 1024, parts);
    strata::npb::ep::tally_pairs(1024, 3072, parts);
    CHECK(std::abs(whole.x - parts.x) < 1e-10);
    CHECK(std::abs(whole.y - parts.y) < 1e-10);
    std::uint64_t pairs = 0;
    for (int l = 0; l < 10; ++l) {
        CHECK(whole.counts[l] == parts.counts[l]);
        pairs += whole.counts[l];
    }
    CHECK(pairs > 3100);  // pi / 4 of them lie in the circle
    CHECK(pairs < 3330);
}
