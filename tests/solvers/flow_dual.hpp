// Automatic differentiation in two variables, for the sources of manufactured solutions: a number with its
// derivatives. Of numbers that are such numbers themselves there are second derivatives.
#pragma once

#include <array>
#include <cmath>

namespace flow_test {

template <class T>
struct Dual {
    T v{};
    std::array<T, 2> d{};
    Dual() = default;
    Dual(double x) : v(x) {}  // NOLINT(google-explicit-constructor): constants in formulas
    Dual(T value, T dx, T dy) : v(value), d{dx, dy} {}

    friend Dual operator+(const Dual& a, const Dual& b) {
        return {a.v + b.v, a.d[0] + b.d[0], a.d[1] + b.d[1]};
    }
    friend Dual operator-(const Dual& a, const Dual& b) {
        return {a.v - b.v, a.d[0] - b.d[0], a.d[1] - b.d[1]};
    }
    friend Dual operator*(const Dual& a, const Dual& b) {
        return {a.v * b.v, a.d[0] * b.v + a.v * b.d[0], a.d[1] * b.v + a.v * b.d[1]};
    }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const T r = a.v / b.v;
        return {r, (a.d[0] - r * b.d[0]) / b.v, (a.d[1] - r * b.d[1]) / b.v};
    }
    friend Dual sqrt(const Dual& a) {
        using std::sqrt;
        const T r = sqrt(a.v);
        return {r, a.d[0] / (2.0 * r), a.d[1] / (2.0 * r)};
    }
    friend Dual sin(const Dual& a) {
        using std::cos, std::sin;
        const T c = cos(a.v);
        return {sin(a.v), c * a.d[0], c * a.d[1]};
    }
    friend Dual cos(const Dual& a) {
        using std::cos, std::sin;
        const T s = T(0.0) - sin(a.v);
        return {cos(a.v), s * a.d[0], s * a.d[1]};
    }
};

using Once = Dual<double>;
using Twice = Dual<Once>;

/// The variables x and y at a place.
inline std::array<Twice, 2> variables(double x, double y) {
    return {Twice{Once{x, 1, 0}, Once{1}, Once{0}}, Twice{Once{y, 0, 1}, Once{0}, Once{1}}};
}

}  // namespace flow_test
