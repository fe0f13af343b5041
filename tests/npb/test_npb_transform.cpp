// The Fourier transforms of FT, against the sum that defines them.
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "benchmarks/npb/ft/pencils.hpp"
#include "benchmarks/npb/ft/transform.hpp"
#include "tests/catch.hpp"

using namespace strata::npb;
using ft::Pencils;

TEST_CASE("eight transforms at once are the sums that define them") {
    for (const std::int64_t n : {2, 4, 8, 16, 32, 64, 128, 512, 1024}) {
        const ft::Transform transform(n);
        const auto count = static_cast<std::size_t>(n);
        std::vector<Vec> in(2 * count), out(2 * count), scratch(4 * count);
        for (std::size_t i = 0; i < 2 * count; ++i)
            for (int l = 0; l < kLanes; ++l) in[i][l] = std::sin(0.7 * static_cast<double>(i) * (l + 1) + l);
        transform.run(
            [&](std::int64_t i, ft::Complex& value) {
                value = {in[2 * i], in[2 * i + 1]};
            },
            reinterpret_cast<double*>(out.data()), reinterpret_cast<double*>(out.data()) + kLanes, 2 * kLanes,
            reinterpret_cast<double*>(scratch.data()));
        double worst = 0;
        for (std::int64_t k = 0; k < n; k += 1 + n / 32)
            for (int l = 0; l < kLanes; l += 3) {
                std::complex<double> sum = 0;
                for (std::int64_t j = 0; j < n; ++j)
                    sum += std::complex(in[2 * j][l], in[2 * j + 1][l]) *
                           std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(j * k % n) /
                                               static_cast<double>(n));
                worst = std::max(worst, std::abs(sum - std::complex(out[2 * k][l], out[2 * k + 1][l])));
            }
        CHECK(worst < 1e-12 * static_cast<double>(n));
    }
}

TEST_CASE("pencils cover the grid once, whole along their own direction") {
    const std::array<std::int64_t, 3> n = {64, 32, 16};
    for (const int processes : {1, 2, 8, 16, 32, 128})
        for (const auto along : {Pencils::x, Pencils::y, Pencils::z}) {
            const Pencils pencils(n, processes);
            std::int64_t points = 0;
            for (int rank = 0; rank < processes; ++rank) {
                const ft::Box box = pencils.box(along, rank);
                CHECK(box.extent(along) == n[along]);
                points += box.extent(0) * box.extent(1) * box.extent(2);
            }
            CHECK(points == 64 * 32 * 16);
        }
    CHECK_THROWS(Pencils(n, 3));
    CHECK_THROWS(Pencils(n, 4096));
}
