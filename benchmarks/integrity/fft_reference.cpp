// Compiled without vectors.
#include <algorithm>

#include "benchmarks/integrity/fft.hpp"
#include "benchmarks/integrity/fft_stages.hpp"

namespace strata::integrity {
namespace {

struct Scalars {};

void change_sides(FftRoom& room) {
    std::swap(room.re, room.other_re);
    std::swap(room.im, room.other_im);
}

}  // namespace

void fft_spectrum_reference(FftRoom& room) {
    fft_stages<Scalars>(room, -1);
    change_sides(room);
}

void fft_product_reference(FftRoom& room) {
    fft_square<Scalars>(room);
    change_sides(room);
    constexpr std::size_t half = kPoints / 2;
    std::uint64_t carry = 0;
    for (std::size_t column = 0; column < kPoints; ++column) {
        for (std::size_t i = column < half ? 0 : column - half + 1; i < half && i <= column; ++i)
            carry += std::uint64_t{room.a[i]} * room.b[column - i];
        room.product[column] = carry & 0xfffU;
        carry >>= 12U;
    }
}

}  // namespace strata::integrity
