// The transform itself, included by two sources that are compiled in different ways. `Units` is a type of the
// source's own, so that the linker keeps both.
#pragma once

#include <cstddef>
#include <utility>

#include "benchmarks/integrity/fft.hpp"

namespace strata::integrity {

/// Forward (sign -1) or backward (sign 1), unscaled: Stockham's radix 2, which sorts as it goes. The result
/// changes sides with each of the 13 stages, so it ends in other_re and other_im.
template <class Units>
void fft_stages(FftRoom& room, double sign) {
    double *x = room.re.data(), *y = room.im.data(), *to_x = room.other_re.data(),
           *to_y = room.other_im.data();
    for (std::size_t half = kPoints / 2, run = 1; half >= 1; half /= 2, run *= 2) {
        for (std::size_t j = 0; j < half; ++j) {
            const double c = room.cosine[j * run], s = sign * room.sine[j * run];
            const double *ax = x + j * run, *ay = y + j * run, *bx = ax + half * run, *by = ay + half * run;
            double *px = to_x + 2 * j * run, *py = to_y + 2 * j * run, *qx = px + run, *qy = py + run;
#pragma GCC ivdep
            for (std::size_t k = 0; k < run; ++k) {
                const double dx = ax[k] - bx[k], dy = ay[k] - by[k];
                px[k] = ax[k] + bx[k];
                py[k] = ay[k] + by[k];
                qx[k] = dx * c - dy * s;
                qy[k] = dx * s + dy * c;
            }
        }
        std::swap(x, to_x);
        std::swap(y, to_y);
    }
}

/// The square of the spectrum, transformed back.
template <class Units>
void fft_square(FftRoom& room) {
    for (std::size_t i = 0; i < kPoints; ++i) {
        const double x = room.re[i], y = room.im[i];
        room.re[i] = x * x - y * y;
        room.im[i] = 2 * x * y;
    }
    fft_stages<Units>(room, 1);
}

}  // namespace strata::integrity
