#include "benchmarks/npb/flow/equations.hpp"

namespace strata::npb::flow {
namespace {

/// Of the exact solution: the constant, then the factors of x, y, z, x^2, y^2, z^2 and so on to z^4.
constexpr double kExact[kComponents][13] = {
    {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2}};

std::array<double, 3> place(const Index& at, const Scale& scale) {
    std::array<double, 3> x{};
    for (std::size_t d = 0; d < 3; ++d) x[d] = static_cast<double>(at[d]) / scale[d];
    return x;
}

}  // namespace

State exact(double x, double y, double z) {
    const double at[3] = {x, y, z};
    State u{};
    for (std::size_t m = 0; m < kComponents; ++m) {
        u[m] = kExact[m][0];
        for (int d = 0; d < 3; ++d) {
            double value = 0;
            for (int power = 4; power >= 1; --power) value = at[d] * (kExact[m][3 * power - 2 + d] + value);
            u[m] += value;
        }
    }
    return u;
}

State exact(const Index& at, const Scale& scale) {
    const auto x = place(at, scale);
    return exact(x[0], x[1], x[2]);
}

State initial(const Index& at, const Index& n, const Scale& scale) {
    const auto x = place(at, scale);
    for (const std::size_t d : {2U, 1U, 0U}) {
        if (at[d] > 0 && at[d] < n[d] - 1) continue;
        auto face = x;
        face[d] = at[d] == 0 ? 0 : 1;
        return exact(face[0], face[1], face[2]);
    }
    std::array<State, 3> between{};
    for (std::size_t d = 0; d < 3; ++d) {
        auto low = x, high = x;
        low[d] = 0;
        high[d] = 1;
        const State a = exact(low[0], low[1], low[2]), b = exact(high[0], high[1], high[2]);
        for (std::size_t m = 0; m < kComponents; ++m) between[d][m] = x[d] * b[m] + (1 - x[d]) * a[m];
    }
    State u{};
    for (std::size_t m = 0; m < kComponents; ++m) {
        const double p = between[0][m], q = between[1][m], r = between[2][m];
        u[m] = p + q + r - p * q - p * r - q * r + p * q * r;
    }
    return u;
}

}  // namespace strata::npb::flow
