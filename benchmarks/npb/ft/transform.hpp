// Fourier transforms of eight sequences side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "benchmarks/npb/common/vector.hpp"

namespace strata::npb::ft {

/// Eight complex numbers, one of each sequence.
struct Complex {
    Vec re, im;
};

/// X_k = sum_j x_j e^(-2 pi i j k / n) for n a power of two, by passes of radix 8, then 4 or 2, that sort as
/// they go (Stockham; see C. Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, section
/// 1.7). The other sign is the same with real and imaginary parts exchanged.
class Transform {
  public:
    explicit Transform(std::int64_t n);

    [[nodiscard]] std::int64_t length() const { return n_; }
    /// Doubles of scratch that run() needs, aligned to cache lines.
    [[nodiscard]] static std::size_t scratch(std::int64_t n) {
        return static_cast<std::size_t>(n) * 2 * 2 * kLanes;
    }

    /// Element i of the eight sequences lies at re + i * stride and im + i * stride. It is read as load(i,
    /// value) leaves it, and written to `out` in the same way; both may be the same memory.
    template <class Load>
    void run(Load&& load, double* out_re, double* out_im, std::int64_t out_stride, double* scratch) const;

  private:
    struct Pass {
        int radix;
        std::int64_t n, stride;    // length that is left, sequences that are interleaved by now
        std::size_t twiddles = 0;  // of e^(-2 pi i p k / n), p from 0 to n / radix - 1, k from 1 to radix - 1
    };
    template <int R, class Load>
    void pass(const Pass& pass, Load&& load, double* out_re, double* out_im, std::int64_t out_stride) const;
    template <class Load>
    void any_pass(const Pass& one, Load&& load, double* re, double* im, std::int64_t stride) const {
        if (one.radix == 8)
            pass<8>(one, load, re, im, stride);
        else if (one.radix == 4)
            pass<4>(one, load, re, im, stride);
        else
            pass<2>(one, load, re, im, stride);
    }

    std::int64_t n_;
    std::vector<Pass> passes_;
    std::vector<double> twiddles_;  // real, imaginary
};

/// Transforms of 2, 4 and 8 values, in place.
inline void butterfly(Complex (&a)[2]) {
    const Complex sum = {a[0].re + a[1].re, a[0].im + a[1].im};
    a[1] = {a[0].re - a[1].re, a[0].im - a[1].im};
    a[0] = sum;
}
inline void butterfly(Complex (&a)[4]) {
    Complex even[2] = {a[0], a[2]}, odd[2] = {a[1], a[3]};
    butterfly(even);
    butterfly(odd);
    // The second odd one turns by -i.
    a[0] = {even[0].re + odd[0].re, even[0].im + odd[0].im};
    a[2] = {even[0].re - odd[0].re, even[0].im - odd[0].im};
    a[1] = {even[1].re + odd[1].im, even[1].im - odd[1].re};
    a[3] = {even[1].re - odd[1].im, even[1].im + odd[1].re};
}
inline void butterfly(Complex (&a)[8]) {
    constexpr double half_root = 0.70710678118654752440;
    Complex even[4] = {a[0], a[2], a[4], a[6]}, odd[4] = {a[1], a[3], a[5], a[7]};
    butterfly(even);
    butterfly(odd);
    // Turned by e^(-2 pi i k / 8).
    const Complex turned[4] = {odd[0],
                               {half_root * (odd[1].re + odd[1].im), half_root * (odd[1].im - odd[1].re)},
                               {odd[2].im, -odd[2].re},
                               {half_root * (odd[3].im - odd[3].re), -half_root * (odd[3].re + odd[3].im)}};
    for (int k = 0; k < 4; ++k) {
        a[k] = {even[k].re + turned[k].re, even[k].im + turned[k].im};
        a[k + 4] = {even[k].re - turned[k].re, even[k].im - turned[k].im};
    }
}

template <int R, class Load>
void Transform::pass(const Pass& one, Load&& load, double* out_re, double* out_im,
                     std::int64_t out_stride) const {
    const std::int64_t m = one.n / R, s = one.stride;
    const double* w = &twiddles_[one.twiddles];
    const auto put = [&](std::int64_t i, const Vec& re, const Vec& im) {
        store(out_re + i * out_stride, re);
        store(out_im + i * out_stride, im);
    };
    for (std::int64_t p = 0; p < m; ++p, w += 2 * (R - 1))
        for (std::int64_t q = 0; q < s; ++q) {
            Complex a[R];
            for (int j = 0; j < R; ++j) load(q + s * (p + m * j), a[j]);
            butterfly(a);
            put(q + s * R * p, a[0].re, a[0].im);
            if (p == 0) {
                for (int k = 1; k < R; ++k) put(q + s * k, a[k].re, a[k].im);
                continue;
            }
            for (int k = 1; k < R; ++k) {
                const double c = w[2 * k - 2], d = w[2 * k - 1];
                put(q + s * (R * p + k), c * a[k].re - d * a[k].im, c * a[k].im + d * a[k].re);
            }
        }
}

template <class Load>
void Transform::run(Load&& load, double* out_re, double* out_im, std::int64_t out_stride,
                    double* scratch) const {
    const std::size_t last = passes_.size() - 1;
    if (last == 0) return any_pass(passes_[0], load, out_re, out_im, out_stride);
    double* buffers[2] = {scratch, scratch + 2 * kLanes * n_};
    // A number of both buffers lies with its imaginary part beside it.
    constexpr std::int64_t step = 2 * kLanes;
    const auto from = [&](const double* buffer) {
        return [buffer](std::int64_t i, Complex& value) {
            value = {npb::load(buffer + i * step), npb::load(buffer + i * step + kLanes)};
        };
    };
    any_pass(passes_[0], load, buffers[0], buffers[0] + kLanes, step);
    for (std::size_t i = 1; i < last; ++i)
        any_pass(passes_[i], from(buffers[(i - 1) % 2]), buffers[i % 2], buffers[i % 2] + kLanes, step);
    any_pass(passes_[last], from(buffers[(last - 1) % 2]), out_re, out_im, out_stride);
}

}  // namespace strata::npb::ft
