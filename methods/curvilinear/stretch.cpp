#include "methods/curvilinear/stretch.hpp"

#include <algorithm>
#include <cmath>

namespace strata::flow {

namespace {

/// Length of n cells of ratio exp(log_r), in lengths of the first.
double sum(int n, double log_r) {
    if (std::abs(n * log_r) < 1e-9) return n * (1 + 0.5 * (n - 1) * log_r);
    return std::expm1(n * log_r) / std::expm1(log_r);
}

/// x in (0, high) where an ascending or descending function is zero.
template <class Function>
double bisect(double low, double high, const Function& f) {
    const bool up = f(low) < 0;
    for (int step = 0; step < 200; ++step) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        ((f(middle) < 0) == up ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

/// Vinokur's function with these slopes at its ends, at t from 0 to 1.
struct BothEnds {
    double ratio, delta = 0;
    int form = 0;  // 1: tanh, -1: tan, 0: straight
    BothEnds(double slope0, double slope1) : ratio(std::sqrt(slope1 / slope0)) {
        const double b = 1 / std::sqrt(slope0 * slope1);
        if (b > 1 + 1e-6) {
            form = 1;
            delta = bisect(1e-6, 500.0, [&](double d) { return std::sinh(d) / d - b; });
        } else if (b < 1 - 1e-6) {
            form = -1;
            delta = bisect(1e-6, 3.14159, [&](double d) { return std::sin(d) / d - b; });
        }
    }
    double operator()(double t) const {
        double u = t;
        if (form > 0) u = 0.5 * (1 + std::tanh(delta * (t - 0.5)) / std::tanh(0.5 * delta));
        if (form < 0) u = 0.5 * (1 + std::tan(delta * (t - 0.5)) / std::tan(0.5 * delta));
        return u / (ratio + (1 - ratio) * u);
    }
};

}  // namespace

double geometric_ratio(int n, double first, double length) {
    if (n < 2) return 1;
    return std::exp(bisect(-30.0, 30.0, [&](double log_r) { return sum(n, log_r) - length / first; }));
}

std::vector<double> geometric(int n, double first, double length) {
    const double log_r = std::log(geometric_ratio(n, first, length));
    std::vector<double> x(static_cast<std::size_t>(n) + 1);
    for (int i = 0; i <= n; ++i) x[static_cast<std::size_t>(i)] = length * (sum(i, log_r) / sum(n, log_r));
    x[0] = 0;
    return x;
}

std::vector<double> two_sided(int n, double first, double last, double length) {
    const auto count = static_cast<std::size_t>(n);
    std::vector<double> x(count + 1);
    // Slopes are lengths of cells only to first order: they are scaled until the cells are right.
    double slope0 = first * n / length, slope1 = last * n / length;
    for (int step = 0; step < 60; ++step) {
        const BothEnds place(slope0, slope1);
        for (std::size_t i = 0; i <= count; ++i) x[i] = length * place(static_cast<double>(i) / n);
        x[0] = 0, x[count] = length;
        if (n < 3) break;
        slope0 *= std::clamp(first / (x[1] - x[0]), 0.5, 2.0);
        slope1 *= std::clamp(last / (x[count] - x[count - 1]), 0.5, 2.0);
    }
    return x;
}

}  // namespace strata::flow
