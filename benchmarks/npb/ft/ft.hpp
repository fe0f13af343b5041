// FT (NAS-91-002, section 2.2.4): a partial differential equation, du/dt = alpha laplace u on a periodic box,
// by Fourier transforms in three dimensions.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>

#include "benchmarks/npb/common/benchmark.hpp"

namespace strata::npb::ft {

extern const Benchmark benchmark;

struct Problem {
    std::array<std::int64_t, 3> n;  // points along x, y, z
    int iterations;
    [[nodiscard]] double points() const {
        return static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
    }
};
[[nodiscard]] const Problem& problem(Class size);

/// The official checksums, one for each iteration (NPB 3.4, FT; relative error of each at most 1e-12).
[[nodiscard]] std::span<const std::complex<double>> checksums(Class size);

}  // namespace strata::npb::ft
