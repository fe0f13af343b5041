// Automatic differentiation in two or three variables, for the sources of manufactured solutions: a number
// with its derivatives. Of numbers that are such numbers themselves there are second derivatives.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace flow_test {

template <class T, std::size_t N>
struct Dual {
    T v{};
    std::array<T, N> d{};
    Dual() = default;
    Dual(double x) : v(x) {}  // NOLINT(google-explicit-constructor): constants in formulas

    /// A function of a and b with this value, and these derivatives by them.
    static Dual of(const T& value, const Dual& a, const T& by_a, const Dual& b, const T& by_b) {
        Dual r;
        r.v = value;
        for (std::size_t n = 0; n < N; ++n) r.d[n] = by_a * a.d[n] + by_b * b.d[n];
        return r;
    }
    static Dual of(const T& value, const Dual& a, const T& by_a) {
        Dual r;
        r.v = value;
        for (std::size_t n = 0; n < N; ++n) r.d[n] = by_a * a.d[n];
        return r;
    }
    friend Dual operator+(const Dual& a, const Dual& b) { return of(a.v + b.v, a, T(1.0), b, T(1.0)); }
    friend Dual operator-(const Dual& a, const Dual& b) { return of(a.v - b.v, a, T(1.0), b, T(-1.0)); }
    friend Dual operator*(const Dual& a, const Dual& b) { return of(a.v * b.v, a, b.v, b, a.v); }
    friend Dual operator/(const Dual& a, const Dual& b) {
        const T r = a.v / b.v, over = T(1.0) / b.v;
        return of(r, a, over, b, T(0.0) - r * over);
    }
    friend Dual sqrt(const Dual& a) {
        using std::sqrt;
        const T r = sqrt(a.v);
        return of(r, a, T(0.5) / r);
    }
    friend Dual tanh(const Dual& a) {
        using std::tanh;
        const T r = tanh(a.v);
        return of(r, a, T(1.0) - r * r);
    }
    friend Dual sin(const Dual& a) {
        using std::cos, std::sin;
        return of(sin(a.v), a, cos(a.v));
    }
    friend Dual cos(const Dual& a) {
        using std::cos, std::sin;
        return of(cos(a.v), a, T(0.0) - sin(a.v));
    }
};

template <int Dim>
using Once = Dual<double, static_cast<std::size_t>(Dim)>;
template <int Dim>
using Twice = Dual<Once<Dim>, static_cast<std::size_t>(Dim)>;

/// The variables x, y (and z) at a place.
template <int Dim>
std::array<Twice<Dim>, static_cast<std::size_t>(Dim)> variables(const std::array<double, 3>& x) {
    std::array<Twice<Dim>, static_cast<std::size_t>(Dim)> all;
    for (std::size_t n = 0; n < Dim; ++n) {
        all[n].v.v = x[n];
        all[n].v.d[n] = 1;
        all[n].d[n].v = 1;
    }
    return all;
}

}  // namespace flow_test
